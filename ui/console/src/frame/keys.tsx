// SPDX-License-Identifier: Apache-2.0

/* Keys. None of them acts while somebody types. */
import { closeDialog, openDialog } from '../parts/dialog';
import { leaveDrawer } from '../parts/drawer';
import { go } from '../state/address';
import { undoLast } from '../state/say';
import { nextTheme } from '../state/theme';
import { isAllowed, pages } from './pages';

const KEYS: [string, string][] = [
  ['j, k', 'next and previous row'], ['Enter', 'open the row'], ['c', 'create'], ['/', 'filter'], ['u', 'undo the last step'], ['Esc', 'close'],
  ['t', 'theme: system, light, dark'], ['?', 'these keys'],
];

let isGoing = false;

function moveRow(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('#main [data-row]')];
  const at = links.findIndex((link) => link === document.activeElement || link.getAttribute('aria-expanded'));
  const next = links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + step))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

export function showKeys(): void {
  const ways = pages.filter((page) => page.key && isAllowed(page)).map((page): [string, string] => [`g ${page.key}`, (page.name ?? page.title).toLowerCase()]);
  openDialog('Keys', (
    <>
      <dl>{[...ways, ...KEYS].map(([key, text]) => [<dt key={key}>{key.split(/, | /).map((one) => <kbd key={one}>{one}</kbd>)}</dt>, <dd key={text}>{text}</dd>])}</dl>
      <button type="button" class="button" data-first="" onClick={closeDialog}>Close</button>
    </>
  ));
}

const ACTIONS: Record<string, () => void> = {
  j: () => moveRow(1),
  k: () => moveRow(-1),
  '/': () => document.getElementById('filter')?.focus(),
  t: nextTheme,
  u: undoLast,
  '?': showKeys,
  g: () => { isGoing = true; },
  c: () => document.querySelector<HTMLElement>('#main [data-new]')?.click(),
};

export function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !document.getElementById('app') || document.querySelector('dialog[open]')) return;
  const target = event.target as HTMLElement;
  const isTyping = target.matches('input:not([type="checkbox"]), textarea, select, [contenteditable]');
  const drawer = document.getElementById('drawer');
  const wasGoing = isGoing;
  isGoing = false;
  if (event.key === 'Escape') {
    if (isTyping && !drawer?.contains(target)) target.blur();
    else if (drawer) leaveDrawer();
    return;
  }
  if (isTyping) return;
  const page = wasGoing && pages.find((one) => one.key === event.key && isAllowed(one));
  if (page) go(page.path);
  else if (ACTIONS[event.key]) ACTIONS[event.key]!();
  else return;
  event.preventDefault();
}
