// SPDX-License-Identifier: Apache-2.0

/* GPUs that are allocated and do nothing, where the cluster measures that. */
import type { NodeRow } from './rows';

export interface Idle {
  workload: string;
  queue: string;
  gpus: number;
  nodes: string[];
}

/** Whether anything says how busy GPUs are. */
export function isMeasured(nodes: Iterable<NodeRow>): boolean {
  for (const node of nodes) if (node.holders.some((holder) => holder.busy !== undefined)) return true;
  return false;
}

/** Workloads with GPUs that do nothing, the most first. */
export function idleWorkloads(nodes: Iterable<NodeRow>): Idle[] {
  const found = new Map<string, Idle>();
  for (const node of nodes) {
    for (const holder of node.holders) {
      if (holder.busy === undefined || holder.busy > 0) continue;
      const key = holder.workload || `${holder.namespace}/Pod/${holder.pod}`;
      const idle = found.get(key) ?? { workload: key, queue: holder.queue, gpus: 0, nodes: [] };
      idle.gpus += holder.gpus;
      if (!idle.nodes.includes(node.name)) idle.nodes.push(node.name);
      found.set(key, idle);
    }
  }
  return [...found.values()].sort((a, b) => b.gpus - a.gpus || a.workload.localeCompare(b.workload));
}
