// SPDX-License-Identifier: Apache-2.0

/* Policies as rows: a member of a workload, a rule for it, and the value of that rule. */
import { plain } from '../../text/plain';

type Json = Record<string, unknown>;

export interface Policy {
  defaults?: Json;
  rules?: Json;
  imposedAssets?: unknown;
}

export interface FlatRule {
  /** Such as "compute.gpuDevicesRequest". */
  member: string;
  rule: string;
  value: unknown;
  /** The scope that an effective rule comes from. */
  source?: { scope: string; departmentId?: string; projectId?: string | number };
}

/** All rules, and how each reads after the name of a member. */
export const RULES: Record<string, string> = {
  default: 'default', max: 'at most', min: 'at least', step: 'in steps of', required: 'required', canEdit: 'editable', options: 'one of', canAdd: 'extensible',
  locked: 'locked items', defaultFrom: 'taken from',
};
const YES_NO = new Set(['required', 'canEdit', 'canAdd']);
const LISTS = new Set(['options', 'locked']);

export function isYesNo(rule: string): boolean {
  return YES_NO.has(rule);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function flattenDefaults(value: Json, above: string, rows: FlatRule[]): void {
  for (const [name, one] of Object.entries(value)) {
    const member = above ? `${above}.${name}` : name;
    if (isObject(one)) flattenDefaults(one, member, rows);
    else rows.push({ member, rule: 'default', value: one });
  }
}

function flattenRules(value: Json, above: string, rows: FlatRule[]): void {
  const source = value.sourceOfRule as FlatRule['source'];
  for (const [name, one] of Object.entries(value)) {
    if (name === 'sourceOfRule') continue;
    // Lists and numbers are values of rules alone; what "default from" names is an object.
    if (above && name in RULES && (!isObject(one) || name === 'defaultFrom')) rows.push({ member: above, rule: name, value: one, ...(source ? { source } : {}) });
    else if (isObject(one)) flattenRules(one, above ? `${above}.${name}` : name, rows);
  }
}

export function flatten(policy: Policy): FlatRule[] {
  const rows: FlatRule[] = [];
  flattenDefaults(policy.defaults ?? {}, '', rows);
  flattenRules(policy.rules ?? {}, '', rows);
  return rows.toSorted((a, b) => a.member.localeCompare(b.member));
}

function put(to: Json, path: string[], value: unknown): void {
  const [first, ...rest] = path;
  if (!rest.length) {
    to[first!] = value;
    return;
  }
  if (!isObject(to[first!])) to[first!] = {};
  put(to[first!] as Json, rest, value);
}

export function unflatten(rows: FlatRule[]): { defaults: Json; rules: Json } {
  const policy = { defaults: {}, rules: {} };
  for (const { member, rule, value } of rows) {
    if (rule === 'default') put(policy.defaults, member.split('.'), value);
    else put(policy.rules, [...member.split('.'), rule], value);
  }
  return policy;
}

/** Where a row stands in the request, as the server names it. */
export function pathOf({ member, rule }: { member: string; rule: string }): string {
  return rule === 'default' ? `policy.defaults.${member}` : `policy.rules.${member}.${rule}`;
}

function words(text: string): string[] {
  return text.split(',').map((one) => one.trim()).filter(Boolean);
}

/** A value as somebody types it. A text that reads as JSON is in quotes. */
export function valueText(rule: string, value: unknown): string {
  if (isYesNo(rule)) return value === true ? 'yes' : 'no';
  if (rule === 'locked' && Array.isArray(value)) return value.join(', ');
  if (rule === 'options' && Array.isArray(value)) {
    const options = value as { value?: unknown; displayed?: string }[];
    if (options.every((one) => typeof one.value === 'string' && !one.displayed && !one.value.includes(','))) return options.map((one) => one.value).join(', ');
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  return parse(value) === value ? value : JSON.stringify(value);
}

function parse(text: string): unknown {
  try { return JSON.parse(text) as unknown; } catch { return text; }
}

export function parseValue(rule: string, text: string): unknown {
  const trimmed = text.trim();
  if (isYesNo(rule)) return trimmed === 'yes';
  if (LISTS.has(rule) && !trimmed.startsWith('[')) return rule === 'locked' ? words(trimmed) : words(trimmed).map((value) => ({ value }));
  return parse(trimmed);
}

/** "at most 4", "required", "cannot be changed" */
export function ruleText({ rule, value }: FlatRule): string {
  if (rule === 'required') return value === true ? 'required' : 'not required';
  if (rule === 'canEdit') return value === true ? 'can be changed' : 'cannot be changed';
  if (rule === 'canAdd') return value === true ? 'can be added to' : 'nothing can be added';
  return plain(`${RULES[rule] ?? rule} ${valueText(rule, value)}`);
}

/** Members that rules are made for most; any other can be typed. */
const MEMBERS = [
  'image', 'imagePullPolicy', 'command', 'args', 'workingDir', 'compute.gpuDevicesRequest', 'compute.gpuPortionRequest', 'compute.gpuMemoryRequest', 'compute.cpuCoreRequest',
  'compute.cpuCoreLimit', 'compute.cpuMemoryRequest', 'compute.cpuMemoryLimit', 'priorityClass', 'preemptibility', 'nodePools', 'nodeType', 'environmentVariables.instances',
  'storage.hostPath.instances', 'storage.nfs.instances', 'storage.pvc.instances', 'security.runAsUid', 'security.runAsNonRoot', 'security.hostNetwork', 'security.hostIpc',
  'security.capabilities', 'security.allowPrivilegeEscalation', 'terminationGracePeriodSeconds', 'backoffLimit', 'autoDeletionTimeAfterCompletionSeconds',
];

export function membersOf(kind: string): string[] {
  return kind === 'distributed' ? ['worker', 'master'].flatMap((part) => MEMBERS.map((member) => `${part}.${member}`)) : MEMBERS;
}
