// SPDX-License-Identifier: Apache-2.0
import { amountText, countText, durationText, listText, matches, numberText, timeText } from '../../ui/console/src/text/format';
import { plain } from '../../ui/console/src/text/plain';

test('numbers have no more digits than one reads', () => {
  expect([0, 12, 1204, 0.25, 2.46, 132.4, Number.NaN].map(numberText)).toEqual(['0', '12', '1,204', '0.25', '2.5', '132', '–']);
  expect([1, 4, 0.5, 4 / 3].map(amountText)).toEqual(['1', '4', '0.5', '1.33']);
  expect([countText(1, 'node'), countText(2, 'node'), countText(0, 'entry', 'entries')]).toEqual(['1 node', '2 nodes', '0 entries']);
});

test('durations name their two largest units', () => {
  expect([0, 0.4, 12, 60, 61, 3600, 3660, 90_061, -5].map(durationText)).toEqual(['0 s', '0 s', '12 s', '1 m', '1 m 1 s', '1 h', '1 h 1 m', '1 d 1 h', '0 s']);
});

test('times are shorter the nearer they are', () => {
  const now = new Date(2026, 10, 18, 14, 0, 0);
  const at = (...parts: [number, number, number, number, number]): string => timeText(new Date(...parts).toISOString(), now);
  expect([at(2026, 10, 18, 9, 5), at(2026, 10, 16, 3, 12), at(2025, 0, 2, 3, 4), timeText('', now), timeText('soon', now)])
    .toEqual(['09:05:00', '16 Nov, 03:12', '2 Jan 2025', '–', '–']);
});

test('lists end with "and"', () => {
  expect([listText([]), listText(['a']), listText(['a', 'b']), listText(['a', 'b', 'c'])]).toEqual(['', 'a', 'a and b', 'a, b and c']);
});

test('every word of a filter has to be found', () => {
  expect([matches('', 'a'), matches('lang RES', 'language', 'research'), matches('lang x', 'language', undefined)]).toEqual([true, true, false]);
});

test('what cannot be seen in a name is written out', () => {
  expect(plain('a\u202eb\u0000c\u200bd\n')).toBe('a‹U+202E›b‹U+0000›c‹U+200B›d‹U+000A›');
  expect([plain('<b>'), plain(null), plain(undefined), plain(0)]).toEqual(['<b>', '', '', '0']);
});
