// SPDX-License-Identifier: Apache-2.0

/* A scenario as the address holds it: quotas that are other than now, and a gang that is submitted. */

/** Members that stay as they are are left out; -1 is unlimited. */
export interface QueueChange {
  name: string;
  quota?: number;
  limit?: number;
  overQuotaWeight?: number;
}

export interface Gang {
  queue: string;
  pods: number;
  gpus: number;
}

export const PARTS = ['quota', 'limit', 'overQuotaWeight'] as const;
export type Part = (typeof PARTS)[number];

/** A number as somebody types it; undefined for nothing, NaN for none. */
export function readAmount(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase();
  if (!trimmed) return undefined;
  return trimmed === 'unlimited' ? -1 : Number(trimmed);
}

export function amountWord(amount: number): string {
  return amount < 0 ? 'unlimited' : String(amount);
}

/** "vision:16::2,search:8::" */
export function readChanges(text: string): QueueChange[] {
  const changes: QueueChange[] = [];
  for (const row of text.split(',').filter(Boolean)) {
    const [name = '', ...amounts] = row.split(':');
    const change: QueueChange = { name };
    for (const [i, part] of PARTS.entries()) {
      const amount = readAmount(amounts[i] ?? '');
      if (amount !== undefined && Number.isFinite(amount)) change[part] = amount;
    }
    if (name && PARTS.some((part) => change[part] !== undefined)) changes.push(change);
  }
  return changes;
}

export function writeChanges(changes: QueueChange[]): string {
  return changes.filter((change) => PARTS.some((part) => change[part] !== undefined))
    .map((change) => [change.name, ...PARTS.map((part) => change[part] ?? '')].join(':')).join(',');
}

/** One part of one queue is another amount; undefined is as it is now. */
export function withChange(changes: QueueChange[], name: string, part: Part, amount: number | undefined): QueueChange[] {
  const others = changes.filter((one) => one.name !== name);
  const change: QueueChange = { ...(changes.find((one) => one.name === name) ?? { name }) };
  if (amount === undefined) delete change[part];
  else change[part] = amount;
  return [...others, change].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** "vision:2:8": two pods of eight GPUs. */
export function readGang(text: string): Gang | null {
  const [queue = '', pods = '', gpus = ''] = text.split(':');
  const gang = { queue, pods: Number(pods), gpus: Number(gpus) };
  const isGang = queue && Number.isInteger(gang.pods) && gang.pods > 0 && gang.gpus > 0 && (gang.gpus < 1 || Number.isInteger(gang.gpus));
  return isGang ? gang : null;
}

/** The request; null for a scenario that changes nothing. */
export function bodyOf(changes: QueueChange[], gang: Gang | null): object | null {
  if (!changes.length && !gang) return null;
  return { ...(changes.length ? { queues: changes } : {}), ...(gang ? { workload: { ...gang, isPreemptible: true } } : {}) };
}
