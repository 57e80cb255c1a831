// SPDX-License-Identifier: Apache-2.0

/* The theme: as the system, until a person chooses. */
import { signal } from '@preact/signals';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const theme = signal<Theme>('system');

function set(value: Theme): void {
  theme.value = value;
  document.documentElement.dataset.theme = value;
}

export function nextTheme(): void {
  set(THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!);
  try { localStorage.setItem('muster-theme', theme.value); } catch { /* It holds for this page then. */ }
}

export function startTheme(): void {
  let kept: string | null = null;
  try { kept = localStorage.getItem('muster-theme'); } catch { /* As the system. */ }
  set(THEMES.find((one) => one === kept) ?? 'system');
}
