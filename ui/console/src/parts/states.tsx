// SPDX-License-Identifier: Apache-2.0

/* What is shown while there is nothing to show: loading, failed, forbidden, empty, no match. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { go, here } from '../state/address';
import { refresh } from '../state/read';
import { plain } from '../text/plain';
import { Icon } from './icon';

const NOTICED = 150;

/** Grey shapes in the size of what comes, when it takes longer than one notices. */
export function Shapes({ count = 8 }: { count?: number }) {
  const [isShown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), NOTICED);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <>
      <div class="panel shapes" aria-hidden="true">{Array.from({ length: count }, (_, i) => <i key={i} />)}</div>
      <p class="hidden" role="status">Loading</p>
    </>
  );
}

export function Forbidden({ what }: { what: string }) {
  return (
    <section class="panel state">
      <Icon name="shield" tone="dim" />
      <h2>You may not see this</h2>
      <p class="dim">{`${plain(what)} An administrator can give you a role that allows it.`}</p>
    </section>
  );
}

export function Trouble({ status, message }: { status: number; message: string }) {
  if (status === 403) return <Forbidden what={message} />;
  return (
    <section class="panel state">
      <Icon name="octagon" tone="bad" />
      <h2>This could not be read</h2>
      <p class="dim">{plain(message)}</p>
      <button type="button" class="button" onClick={() => { void refresh(); }}>Try now</button>
    </section>
  );
}

/** What belongs here, and a way to it. */
export function Empty({ title, text, children }: { title: string; text: string; children?: ComponentChildren }) {
  return <div class="state"><h2>{title}</h2><p class="dim">{text}</p>{children}</div>;
}

/** Nothing matches the filter, which stands in these parameters of the address. */
export function NoMatch({ names = ['q'] }: { names?: string[] }) {
  const clear = (): void => go(here(Object.fromEntries(names.map((name) => [name, '']))));
  return <p class="empty">Nothing matches. <button type="button" class="more" onClick={clear}>Clear the filter</button></p>;
}
