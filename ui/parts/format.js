'use strict';

/* Numbers and times as people read them. */

const UNITS = [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]];

function formatSeconds(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 9.95) return seconds === Math.floor(seconds) ? `${seconds}s` : `${seconds.toFixed(1)}s`;
  let left = Math.round(seconds);
  const i = UNITS.findIndex(([, size]) => left >= size);
  const [name, size] = UNITS[i];
  const whole = Math.floor(left / size);
  left -= whole * size;
  if (i === 3) return `${whole}s`;
  const [nextName, nextSize] = UNITS[i + 1];
  const rest = Math.floor(left / nextSize);
  return rest ? `${whole}${name} ${rest}${nextName}` : `${whole}${name}`;
}

function formatNumber(value) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  const digits = size >= 100 || value === Math.round(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: 0, maximumFractionDigits: digits });
}

function formatPart(value) {
  return Number.isFinite(value) ? `${(value * 100).toFixed(1)}%` : '–';
}

const FORMATS = { count: formatNumber, seconds: formatSeconds, part: formatPart, hours: formatNumber };

function formatMetric(unit, value) {
  return value === null || value === undefined ? '–' : FORMATS[unit](value);
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function formatClock(date, withSeconds) {
  const text = date.toISOString();
  return withSeconds ? text.slice(11, 19) : text.slice(11, 16);
}

function formatMoment(epoch, span) {
  const date = new Date(epoch * 1000);
  const day = `${WEEKDAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  return `${day} ${formatClock(date, span < 7200)}`;
}

/* Steps between ticks of a time axis, in seconds. */
const TIME_STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000];

function timeTicks(start, from, to, count) {
  const span = to - from;
  const step = TIME_STEPS.find((s) => span / s <= count) || Math.ceil(span / count / 2592000) * 2592000;
  /* Weeks start on Mondays, and 1970 did on a Thursday. */
  const shift = step >= 604800 ? 4 * 86400 : 0;
  const ticks = [];
  for (let t = Math.ceil((start + from - shift) / step) * step + shift; t <= start + to; t += step) {
    const date = new Date(t * 1000);
    const isDay = t % 86400 === 0;
    const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
    const label = step >= 86400 || isDay ? (step >= 604800 ? day : `${WEEKDAYS[date.getUTCDay()]} ${day}`)
      : formatClock(date, step < 60);
    ticks.push({ at: t - start, label, isDay });
  }
  return ticks;
}

/* Round numbers from 0 up to `max`. */
function valueTicks(max, count) {
  const raw = max / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((f) => f * power >= raw - 1e-12) * power;
  const ticks = [];
  for (let i = 0; i * step <= max + 1e-9; i++) ticks.push(i * step);
  return ticks;
}

/* Packed numbers: base64 of 32-bit words, lowest byte first. */
function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Uint32Array(bytes.buffer, 0, bytes.length >> 2);
}
