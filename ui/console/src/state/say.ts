// SPDX-License-Identifier: Apache-2.0

/* Short messages at the foot, with a way back where there is one. */
import { signal } from '@preact/signals';

export interface Message {
  text: string;
  undo?: (() => void) | undefined;
}

export const message = signal<Message | null>(null);

const SHOWN = 6000;
const UNDO_SHOWN = 8000;
let timer = 0;

export function say(text: string, undo?: () => void): void {
  clearTimeout(timer);
  message.value = { text, undo };
  timer = window.setTimeout(() => { message.value = null; }, undo ? UNDO_SHOWN : SHOWN);
}

/** Takes the last step back while its message is shown. */
export function undoLast(): void {
  const undo = message.value?.undo;
  if (!undo) return;
  message.value = null;
  undo();
}
