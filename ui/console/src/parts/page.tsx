// SPDX-License-Identifier: Apache-2.0

/* The body of a page: its title, one sentence, its actions, and what it has read. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Read } from '../state/read';
import { address } from '../state/address';
import { Icon } from './icon';
import { Shapes, Trouble } from './states';

export function Head({ title, lead = '', children }: { title: string; lead?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <div class="head">
      <div class="grow"><h1>{title}</h1><p class="lead" id="lead">{lead}</p></div>
      {children}
    </div>
  );
}

/** Marks the document as drawn, for whoever waits for that: "loading" until there is something to see. */
export function useReady(isReady: boolean): void {
  const { path } = address.value;
  useLayoutEffect(() => { document.documentElement.dataset.ready = isReady ? path : 'loading'; });
}

/** Draws what was read, or what stands in for it. What was read before stays when the next answer does not come. */
export function Body<T>({ title, read, children }: { title: string; read: Read<T>; children: (data: T) => ComponentChildren }) {
  useReady(read.data !== null || read.error !== null);
  if (read.data !== null) return <>{children(read.data)}</>;
  return (
    <>
      <Head title={title} />
      {read.error ? <Trouble status={read.error.status} message={read.error.message} /> : <Shapes />}
    </>
  );
}

/** The one loud button of a page. */
export function MainLink({ text, where, hint = 'c' }: { text: string; where: string; hint?: string }) {
  return <a class="button main" href={where} data-new=""><Icon name="plus" />{text}<kbd aria-hidden="true">{hint}</kbd></a>;
}

/** A panel with a title; its header takes filters and choices. */
export function Panel({ id, title, note, tools, children }: { id: string; title: string; note?: ComponentChildren; tools?: ComponentChildren; children?: ComponentChildren }) {
  return (
    <section class="panel" aria-labelledby={`${id}-title`}>
      <header><h2 id={`${id}-title`}>{title}</h2>{note ? <span class="dim">{note}</span> : null}<span class="grow" />{tools}</header>
      {children}
    </section>
  );
}
