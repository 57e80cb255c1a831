// SPDX-License-Identifier: Apache-2.0

/* What channels can be told, in groups. */

export interface EventGroup {
  event: string;
  title: string;
  /** The whole group. */
  all: string;
  details: [detail: string, text: string][];
}

export const EVENTS: EventGroup[] = [
  {
    event: 'workload', title: 'Workloads', all: 'every new phase',
    details: [['Running', 'starts'], ['Completed', 'completes'], ['Failed', 'fails'], ['Pending', 'waits'], ['Stopped', 'is suspended']],
  },
  {
    event: 'change', title: 'Changes', all: 'every change in the audit log',
    details: [['project', 'projects'], ['department', 'departments'], ['node-pool', 'node pools'], ['access-rule', 'access rules'], ['user', 'users'], ['policy', 'policies']],
  },
];

export function isWhole(events: string[], group: EventGroup): boolean {
  return events.includes(group.event);
}

/** The groups of which something is told. */
export function groupsOf(events: string[]): EventGroup[] {
  return EVENTS.filter((group) => events.some((event) => event === group.event || event.startsWith(`${group.event}:`)));
}

/** Whether an event is told, and how that reads in the matrix. */
export function isTold(events: string[], group: EventGroup, detail: string): boolean {
  return isWhole(events, group) || events.includes(`${group.event}:${detail}`);
}
