// SPDX-License-Identifier: Apache-2.0

/* Numbers and times as people read them. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export function numberText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const digits = size >= 100 || value === Math.round(value) ? 0 : size >= 1 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

/** "1 node", "1,204 nodes" */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${numberText(count)} ${count === 1 ? one : many}`;
}

/** "4", "0.5", "1.33" */
export function amountText(value: number): string {
  return (Math.round(value * 100) / 100).toLocaleString('en', { maximumFractionDigits: 2 });
}

/** "a, b and c" */
export function listText(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

const UNITS: [string, number][] = [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]];

/** The two largest units: "3 d 2 h", "5 m", "12 s" */
export function durationText(seconds: number): string {
  if (!Number.isFinite(seconds)) return '–';
  let left = Math.max(0, Math.round(seconds));
  const first = Math.max(0, UNITS.findIndex(([, size]) => left >= size));
  if (left === 0) return '0 s';
  const parts: string[] = [];
  for (const [name, size] of UNITS.slice(first, first + 2)) {
    const whole = Math.floor(left / size);
    left -= whole * size;
    if (whole > 0) parts.push(`${whole} ${name}`);
  }
  return parts.join(' ');
}

function pad(number: number): string {
  return String(number).padStart(2, '0');
}

export function clockText(date: Date): string {
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/** In the zone of whoever looks: "14:10:32" today, "16 Nov, 03:12" this year, "16 Nov 2025" before. */
export function timeText(text: string | null | undefined, now = new Date()): string {
  if (!text) return '–';
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return '–';
  if (date.toDateString() === now.toDateString()) return clockText(date);
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
  return date.getFullYear() === now.getFullYear() ? `${day}, ${pad(date.getHours())}:${pad(date.getMinutes())}` : `${day} ${date.getFullYear()}`;
}

/** Whether each of the words is in one of the texts. */
export function matches(words: string, ...texts: (string | undefined)[]): boolean {
  const whole = texts.join('\n').toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => whole.includes(word));
}
