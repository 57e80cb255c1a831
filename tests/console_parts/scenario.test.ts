// SPDX-License-Identifier: Apache-2.0
import { bodyOf, readAmount, readChanges, readGang, withChange, writeChanges } from '../../ui/console/src/pages/whatif/scenario';

test('a scenario is the same after the address held it', () => {
  const changes = withChange(withChange([], 'vision', 'quota', 16), 'language', 'limit', -1);
  expect(writeChanges(changes)).toBe('language::-1:,vision:16::');
  expect(readChanges(writeChanges(changes))).toEqual(changes);
  expect(writeChanges(withChange(changes, 'vision', 'quota', undefined))).toBe('language::-1:');
  expect(readChanges('vision:::,:4,x:many::')).toEqual([]);
});

test('an amount is a number or unlimited', () => {
  expect([readAmount(' 2.5 '), readAmount('unlimited'), readAmount(''), readAmount('many')]).toEqual([2.5, -1, undefined, NaN]);
});

test('a gang has pods of whole GPUs or of a part of one', () => {
  expect(readGang('vision:2:8')).toEqual({ queue: 'vision', pods: 2, gpus: 8 });
  expect([readGang('vision:2:1.5'), readGang('vision:0:1'), readGang(':1:1'), readGang('')]).toEqual([null, null, null, null]);
  expect(readGang('vision:1:0.5')?.gpus).toBe(0.5);
});

test('a scenario that changes nothing is not asked about', () => {
  expect(bodyOf([], null)).toBeNull();
  expect(bodyOf([{ name: 'vision', quota: 2 }], { queue: 'x', pods: 1, gpus: 1 })).toEqual({ queues: [{ name: 'vision', quota: 2 }], workload: { queue: 'x', pods: 1, gpus: 1, isPreemptible: true } });
});
