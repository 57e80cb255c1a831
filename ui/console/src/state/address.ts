// SPDX-License-Identifier: Apache-2.0

/* The address is the state of the page: what is filtered, sorted and open stands in it, so that every view is a link. */
import { signal } from '@preact/signals';

export interface Address {
  path: string;
  query: URLSearchParams;
}

type Values = Record<string, string | number | null | undefined>;

function read(): Address {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export const address = signal<Address>(read());

/** A path with those parameters that have a value. */
export function to(path: string, query: Values = {}): string {
  const parts = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== '' && value !== undefined && value !== null).map(([name, value]) => [name, String(value)]),
  );
  return parts.size ? `${path}?${parts}` : path;
}

/** This address with other parameters. */
export function here(changes: Values): string {
  return to(address.value.path, { ...Object.fromEntries(address.value.query), ...changes });
}

export function param(name: string): string {
  return address.value.query.get(name) ?? '';
}

/** Goes to an address of the page; `replaces` where back should not lead to this one, as while somebody types. */
export function go(where: string, replaces = false): void {
  if (where === location.pathname + location.search) return;
  history[replaces ? 'replaceState' : 'pushState'](null, '', where);
  const before = address.value.path;
  address.value = read();
  if (address.value.path !== before) scrollTo(0, 0);
}

/** Links of the page are followed without loading it anew; with a key of the browser they open as any link does. */
function onLink(event: MouseEvent): void {
  const link = (event.target as Element).closest('a[href^="/"]');
  const where = link?.getAttribute('href');
  if (!where || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || where.startsWith('/api/')) return;
  event.preventDefault();
  go(where);
}

export function startAddress(): void {
  document.addEventListener('click', onLink);
  addEventListener('popstate', () => { address.value = read(); });
}
