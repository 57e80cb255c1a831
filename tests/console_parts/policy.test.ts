// SPDX-License-Identifier: Apache-2.0
import { flatten, parseValue, pathOf, ruleText, unflatten, valueText, type Policy } from '../../ui/console/src/pages/policies/flat';
import { readSpec, type SpecField } from '../../ui/console/src/parts/spec';
import { Values } from '../../ui/console/src/parts/form';

const policy: Policy = {
  defaults: { compute: { gpuDevicesRequest: 1, cpuMemoryRequest: '4' }, environmentVariables: { instances: [{ name: 'A', value: 'b' }] } },
  rules: {
    compute: { gpuDevicesRequest: { max: 4, min: 1 }, gpuMemoryRequest: { defaultFrom: { field: 'compute.cpuMemoryRequest', factor: 2 } } },
    image: { required: true, options: [{ value: 'a' }, { value: 'b' }] }, storage: { hostPath: { instances: { canAdd: false, locked: ['x', 'y'] } } },
  },
};

test('a policy is the same after it was rows', () => {
  const rows = flatten(policy);
  expect(rows.map((row) => pathOf(row))).toContain('policy.rules.storage.hostPath.instances.canAdd');
  expect(unflatten(rows)).toEqual(policy);
});

test('a value is the same after somebody could have typed it', () => {
  for (const { rule, value } of flatten(policy)) expect(parseValue(rule, valueText(rule, value))).toEqual(value);
  expect(valueText('default', '4')).toBe('"4"');
  expect(parseValue('options', ' a ,b, ')).toEqual([{ value: 'a' }, { value: 'b' }]);
  expect(parseValue('options', '[{"value":"a","displayed":"A"}]')).toEqual([{ value: 'a', displayed: 'A' }]);
});

test('an effective rule says who has set it, and reads as a sentence', () => {
  const rows = flatten({ rules: { image: { required: true, canEdit: false, sourceOfRule: { scope: 'tenant' } } } });
  expect(rows.map((row) => [ruleText(row), row.source?.scope])).toEqual([['required', 'tenant'], ['cannot be changed', 'tenant']]);
  expect(ruleText({ member: 'image', rule: 'options', value: [{ value: '\u202ex' }] })).toBe('one of ‹U+202E›x');
});

const fields: SpecField[] = [
  { path: 'image', label: 'Image' }, { path: 'claimInfo.size', label: 'Size' }, { path: 'uid', label: 'User', kind: 'number' }, { path: 'tty', label: 'TTY', kind: 'tick' },
  { path: 'variables', label: 'Variables', kind: 'pairs' },
];

function values(entered: Record<string, string | boolean>): Values {
  return new Values(new Map(Object.entries(entered)));
}

test('a spec keeps what no field shows, and loses what was emptied', () => {
  const before = { image: 'a', stdin: true, claimInfo: { size: '1Gi' }, variables: [{ name: 'A', value: 'b' }, { name: 'N', podFieldRef: { path: 'x' } }] };
  const spec = readSpec(fields, values({ 'spec.image': 'b', 'spec.claimInfo.size': '', 'spec.uid': '0', 'spec.tty': false }), before);
  expect(spec).toEqual({ image: 'b', stdin: true, uid: 0, variables: [{ name: 'N', podFieldRef: { path: 'x' } }] });
  expect(before.claimInfo).toEqual({ size: '1Gi' });
});

test('numbers that are none go to the server as they were typed', () => {
  expect(readSpec(fields, values({ 'spec.uid': 'many', 'spec.tty': true, 'spec.variables[0].name': 'A', 'spec.variables[0].value': ' b' })))
    .toEqual({ uid: 'many', tty: true, variables: [{ name: 'A', value: ' b' }] });
});
