// SPDX-License-Identifier: Apache-2.0

/* The theme: as the system, until a person chooses. */
import { signal } from '@preact/signals';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>('system');

function set(value: Theme): void {
  theme.value = value;
  document.documentElement.dataset.theme = value;
}

export function chooseTheme(value: Theme): void {
  set(value);
  try { localStorage.setItem('muster-theme', theme.value); } catch { /* It holds for this page then. */ }
}

export function nextTheme(): void {
  chooseTheme(THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!);
}

export function startTheme(): void {
  let kept: string | null = null;
  try { kept = localStorage.getItem('muster-theme'); } catch { /* As the system. */ }
  set(THEMES.find((one) => one === kept) ?? 'system');
}
