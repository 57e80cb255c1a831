// SPDX-License-Identifier: Apache-2.0

/* Why workloads wait, by what is to be expected: soon, not now, by choice, never. */

export interface Count {
  value: string;
  text?: string;
  count: number;
  gpus: number;
  oldest?: string;
}

export type Outlook = 'soon' | 'not now' | 'by choice' | 'never';

const OUTLOOKS: Record<string, Outlook> = {
  promised: 'soon', Preempting: 'soon',
  preemption_delay: 'by choice', not_ready: 'by choice', Held: 'by choice',
  no_queue: 'never', queue_not_leaf: 'never', too_large: 'never', no_node_allowed: 'never', no_topology: 'never',
  missing_volume: 'never', missing_config_map: 'never', missing_claim: 'never',
};
const ORDER: Outlook[] = ['soon', 'not now', 'by choice', 'never'];

export function outlookOf(reason: string): Outlook {
  return OUTLOOKS[reason] ?? 'not now';
}

/** The reasons in the order of their outlooks, the most frequent first. */
export function byOutlook(counts: Count[]): (Count & { outlook: Outlook })[] {
  return counts.map((count) => ({ ...count, outlook: outlookOf(count.value) }))
    .sort((a, b) => ORDER.indexOf(a.outlook) - ORDER.indexOf(b.outlook) || b.count - a.count);
}
