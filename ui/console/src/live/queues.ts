// SPDX-License-Identifier: Apache-2.0

/* The tree of queues, their colours, and the parts of their ledger bars. */
import type { QueueRow } from './rows';

export const HUES = 6;

export interface QueueLine {
  queue: QueueRow;
  depth: number;
  hasChildren: boolean;
}

/** The default queues are shown once they are used. */
export function isShown(queue: QueueRow, count: number): boolean {
  return !(queue.name.startsWith('default-') && queue.allocated === 0 && queue.pending === 0 && queue.quota <= 0 && count > 2);
}

/** The queues in the order of the tree. Queues below one of `closed` are left out. */
export function queueTree(queues: Iterable<QueueRow>, closed: ReadonlySet<string> = new Set()): QueueLine[] {
  const all = new Map([...queues].map((queue) => [queue.name, queue]));
  const children = new Map<string, QueueRow[]>();
  for (const queue of all.values()) {
    const parent = queue.parent && all.has(queue.parent) && queue.parent !== queue.name ? queue.parent : '';
    children.set(parent, [...(children.get(parent) ?? []), queue]);
  }
  const lines: QueueLine[] = [];
  const walk = (parent: string, depth: number): void => {
    for (const queue of (children.get(parent) ?? []).sort((a, b) => a.name.localeCompare(b.name))) {
      if (!isShown(queue, all.size)) continue;
      lines.push({ queue, depth, hasChildren: children.has(queue.name) });
      if (!closed.has(queue.name)) walk(queue.name, depth + 1);
    }
  };
  walk('', 0);
  return lines;
}

/**
 * The custom property of each queue's colour: the hue is the queue at the top, the lightness is the queue below it. Colours follow
 * the order of names, so that they are the same on every page and after every reload.
 */
export function queueColours(queues: Iterable<QueueRow>): Map<string, string> {
  const lines = queueTree(queues);
  const colours = new Map<string, string>();
  const shades = ['', 'l', 'd'];
  let hue = -1;
  let shade = 0;
  for (const { queue, depth } of lines) {
    if (depth === 0) {
      hue = (hue + 1) % HUES;
      shade = 0;
      colours.set(queue.name, `--q${hue}`);
    } else {
      colours.set(queue.name, `--q${hue}${shades[shade % shades.length]!}`);
      shade++;
    }
  }
  return colours;
}

/** One scale for the whole tree, so that lengths compare. */
export function ledgerScale(lines: QueueLine[], totalGpus: number): number {
  return Math.max(1, ...lines.map(({ queue }) => Math.max(queue.quota, queue.allocated, queue.fairShare, queue.limit > totalGpus ? 0 : queue.limit,
    Math.min(queue.allocated + queue.pending, totalGpus * 1.25)))) * 1.02;
}

/** Queues at the top of the tree as sums; a quota of -1 adds nothing. */
export function ledgerSum(queues: Iterable<QueueRow>): Pick<QueueRow, 'quota' | 'fairShare' | 'allocated' | 'borrowed' | 'lent' | 'pending'> {
  const sum = { quota: 0, fairShare: 0, allocated: 0, borrowed: 0, lent: 0, pending: 0 };
  for (const { queue } of queueTree(queues).filter((line) => line.depth === 0)) {
    sum.quota += Math.max(0, queue.quota);
    sum.fairShare += queue.fairShare;
    sum.allocated += queue.allocated;
    sum.borrowed += queue.borrowed;
    sum.lent += queue.lent;
    sum.pending += queue.pending;
  }
  return sum;
}

/** Whether `name` is `wanted` or below it. */
export function isWithin(queues: ReadonlyMap<string, QueueRow>, name: string, wanted: string): boolean {
  for (let at: string | undefined = name, steps = 0; at && steps < 64; steps++) {
    if (at === wanted) return true;
    at = queues.get(at)?.parent;
  }
  return false;
}

/** Leaf queues that hold more than their quota, the largest loan first. */
export function overQuota(queues: Iterable<QueueRow>): QueueRow[] {
  return [...queues].filter((queue) => queue.isLeaf && queue.quota >= 0 && queue.borrowed > 0)
    .sort((a, b) => b.borrowed - a.borrowed || a.name.localeCompare(b.name));
}

/** What a screen reader says instead of the bar. */
export function ledgerText(queue: QueueRow, amount: (value: number) => string): string {
  const words = [`quota ${queue.quota < 0 ? 'unlimited' : amount(queue.quota)}`, `fair share ${amount(queue.fairShare)}`, `${amount(queue.allocated)} allocated`];
  if (queue.borrowed > 0) words.push(`${amount(queue.borrowed)} borrowed`);
  if (queue.lent > 0) words.push(`${amount(queue.lent)} lent`);
  if (queue.pending > 0) words.push(`${amount(queue.pending)} pending`);
  return `${queue.displayName || queue.name}: ${words.join(', ')}`;
}
