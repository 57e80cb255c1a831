/* Texts that are made from numbers, times and names. */

/* Marks that turn the direction of text, and control characters: a name from outside must not hide what follows it. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/* A name from outside, with everything that cannot be seen written out. */
function plain(value) {
  return String(value ?? '').replace(INVISIBLE, (c) => `‹U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}›`);
}

function countText(count, one, many = `${one}s`) {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/* "4", "0.5", "1.33" */
function amountText(value) {
  return (Math.round(value * 100) / 100).toLocaleString('en', { maximumFractionDigits: 2 });
}

function pad(number) {
  return String(number).padStart(2, '0');
}

function clockText(date) {
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}

/* In the zone of whoever looks: "14:10:32" today, "16 Nov, 03:12" this year, "16 Nov 2025" before. */
function timeText(text) {
  if (!text) return '–';
  const date = new Date(text);
  const today = new Date();
  if (Number.isNaN(date.getTime())) return '–';
  if (date.toDateString() === today.toDateString()) return clockText(date);
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
  return date.getFullYear() === today.getFullYear() ? `${day}, ${pad(date.getHours())}:${pad(date.getMinutes())}` : `${day} ${date.getFullYear()}`;
}

/* "a, b and c" */
function listText(words) {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
