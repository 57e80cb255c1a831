// SPDX-License-Identifier: Apache-2.0
import type { Share, Unit } from '../../ui/console/src/api/types';
import { coloursOf, ledgerLead, quotaOf, sumOfQuotas, unitRows, weightOf } from '../../ui/console/src/pages/quota/ledger';

function share(deserved: number | null, limit: number | null = null, units?: string): Share {
  return { deserved, limit, overQuotaWeight: 1, ...(units ? { units } : {}) };
}

function unit(id: number, name: string, gpus: number | null, parent?: number): Unit {
  return {
    id: String(id), name, description: '', ...(parent ? { parentId: String(parent) } : {}), createdAt: '', createdBy: '', updatedAt: '', updatedBy: '',
    resources: [{ nodePool: { name: 'default' }, gpu: share(gpus), cpu: share(8000), memory: share(64, null, 'GB') }], status: { phase: 'Ready', phaseMessage: '' },
  };
}

const departments = [unit(2, 'research', 10), unit(1, 'product', 6)];
const projects = [unit(11, 'vision', 2, 2), unit(10, 'language', 6, 2), unit(12, 'search', 1, 1), unit(13, 'elsewhere', 3, 9)];
const data = { departments, projects, pools: ['default'] };

test('quotas are in the units that people count in, and unlimited where there is none', () => {
  const [one] = departments;
  expect([quotaOf(one!, 'default', 'gpu', 'deserved'), quotaOf(one!, 'default', 'gpu', 'limit'), quotaOf(one!, 'default', 'cpu', 'deserved'), quotaOf(one!, 'default', 'memory', 'deserved')])
    .toEqual([10, Infinity, 8, 64]);
  expect([quotaOf(one!, 'gold', 'gpu', 'deserved'), weightOf(one!, 'gold', 'gpu'), quotaOf(unit(3, 'a', -1), 'default', 'gpu', 'deserved')]).toEqual([Infinity, 1, Infinity]);
});

test('rows go by name, each department before its projects, those of hidden departments last', () => {
  const rows = unitRows(data, 'default', 'gpu', '');
  expect(rows.map((row) => row.unit.name)).toEqual(['product', 'search', 'research', 'language', 'vision', 'elsewhere']);
  expect(rows.map((row) => row.given)).toEqual([1, 1, 8, 6, 2, 3]);
  expect(sumOfQuotas(rows)).toBe(16);
  expect(ledgerLead(rows, 'default', 'gpu')).toBe('2 departments with 4 projects own 16 GPUs in the node pool default.');
});

test('a filter keeps the department of what it finds, and what a department owns', () => {
  const rows = unitRows(data, 'default', 'gpu', 'vis');
  expect(rows.map((row) => row.unit.name)).toEqual(['research', 'vision']);
  expect(rows[0]!.given).toBe(8);
});

test('colours follow the age, so that a new unit changes no other', () => {
  const before = coloursOf(departments, projects);
  const after = coloursOf([...departments, unit(3, 'aardvark', 1)], [...projects, unit(20, 'a', 1, 2)]);
  expect(before.get('1')).toBe('--q0');
  expect([before.get('10'), before.get('11'), after.get('20')]).toEqual(['--q1', '--q1l', '--q1d']);
  for (const [id, colour] of before) expect(after.get(id)).toBe(colour);
});
