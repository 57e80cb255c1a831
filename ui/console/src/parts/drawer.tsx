// SPDX-License-Identifier: Apache-2.0

/* The drawer at the right, which shows what ?open= or ?new= names, over the page on a phone. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { go, here } from '../state/address';
import { plain } from '../text/plain';
import { Icon } from './icon';

export function leaveDrawer(): void {
  go(here({ open: '', new: '', in: '' }));
}

/** `row` is what the drawer was opened from: the focus goes back there. */
export function Drawer({ title, row = '', children }: { title: string; row?: string; children?: ComponentChildren }) {
  const ref = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    document.body.classList.add('has-drawer');
    const drawer = ref.current!;
    const input = drawer.querySelector<HTMLElement>('input:not([type="hidden"]):not([readonly]):not([tabindex="-1"]), select');
    (input ?? drawer).focus({ preventScroll: true });
    return () => document.body.classList.remove('has-drawer');
  }, []);
  const hadFocus = useRef(false);
  useLayoutEffect(() => () => { hadFocus.current = Boolean(ref.current?.contains(document.activeElement)); }, []);
  useEffect(() => () => {
    if (!hadFocus.current && document.activeElement !== document.body) return;
    const back = row && [...document.querySelectorAll<HTMLElement>('[data-focus]')].find((one) => one.dataset.focus === row);
    (back || document.getElementById('main'))?.focus({ preventScroll: true });
  }, [row]);
  return (
    <aside id="drawer" class="drawer" aria-labelledby="drawer-title" tabIndex={-1} ref={ref}>
      <header>
        <h2 id="drawer-title">{plain(title)}</h2>
        <button type="button" class="icon" aria-label="Close" title="Close (Esc)" onClick={leaveDrawer}><Icon name="cross" /></button>
      </header>
      {children}
    </aside>
  );
}
