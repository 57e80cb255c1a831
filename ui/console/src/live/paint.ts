// SPDX-License-Identifier: Apache-2.0

/* Counts up whenever everything that is not drawn by style sheets has to be drawn in other colours. */
import { effect, signal } from '@preact/signals';
import { theme } from '../state/theme';

export const paint = signal(0);

effect(() => {
  void theme.value;
  paint.value = paint.peek() + 1;
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { paint.value++; });

/** The value of a custom property now. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
