// SPDX-License-Identifier: Apache-2.0
import { rowsInSight } from '../../ui/console/src/parts/grid';

test('a hundred thousand rows need no more in the document than those in sight', () => {
  const count = 100_000;
  for (const top of [0, 340, 1_700_000, count * 34, count * 34 + 999]) {
    const [from, to] = rowsInSight(top, 680, 34, count);
    expect(from).toBeGreaterThanOrEqual(0);
    expect(to).toBeLessThanOrEqual(count);
    expect(to - from).toBeLessThanOrEqual(20 + 2 * 12 + 1);
    if (top < count * 34) expect([from * 34 <= top, to * 34 >= Math.min(top + 680, count * 34)]).toEqual([true, true]);
  }
});

test('few rows are all there', () => {
  expect([rowsInSight(0, 680, 34, 3), rowsInSight(0, 680, 34, 0), rowsInSight(9999, 680, 34, 3)]).toEqual([[0, 3], [0, 0], [3, 3]]);
});
