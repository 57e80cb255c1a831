// SPDX-License-Identifier: Apache-2.0

/** Marks that turn the direction of text, and control characters: a name from outside must not hide what follows it. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export type Plain = string | number | boolean | null | undefined;

/** A name from outside, with everything that cannot be seen written out. */
export function plain(value: Plain): string {
  return String(value ?? '').replace(INVISIBLE, (c) => `‹U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}›`);
}
