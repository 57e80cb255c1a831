// SPDX-License-Identifier: Apache-2.0

/* An identity provider comes back to the start: the place that was asked for is kept for that time. */
const KEY = 'muster-return';

export function keepPlace(): void {
  try { sessionStorage.setItem(KEY, location.pathname + location.search); } catch { /* It comes back to the start then. */ }
}

export function takePlace(): string | null {
  try {
    const place = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return place?.startsWith('/') && !place.startsWith('//') ? place : null;
  } catch { return null; }
}
