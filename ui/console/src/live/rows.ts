// SPDX-License-Identifier: Apache-2.0

/* Rows of the live endpoints, as the server sends them. Fields that only some clusters have are optional. */

export interface Holder {
  pod: string;
  namespace: string;
  /** The id of a workload, or empty for a pod that belongs to none. */
  workload: string;
  queue: string;
  gpus: number;
  /** The shared GPUs that the pod has parts of. */
  groups: string[];
  /** How busy its GPUs are, from 0 to 1, where that is measured. */
  busy?: number;
}

export interface NodeRow {
  id: string;
  name: string;
  state: string;
  gpuModel: string;
  gpuMemory: string;
  isReady: boolean;
  isCordoned: boolean;
  gpus: number;
  gpusAllocated: number;
  cpus: string;
  memory: string;
  pods: number;
  created: string;
  rack?: string;
  nodePool?: string;
  reason?: string;
  cpusAllocated?: string;
  memoryAllocated?: string;
  holders: Holder[];
  /** Holders that the caller may not see. */
  hidden?: { pods: number; gpus: number };
}

export interface QueueRow {
  id: string;
  name: string;
  displayName: string;
  parent?: string;
  depth: number;
  isLeaf: boolean;
  priority: number;
  /** -1 is unlimited, for `limit` too. */
  quota: number;
  limit: number;
  overQuotaWeight: number;
  fairShare: number;
  allocated: number;
  borrowed: number;
  lent: number;
  pending: number;
  nonPreemptible?: number;
}

export interface WorkloadRow {
  id: string;
  kind: string;
  apiVersion: string;
  namespace: string;
  name: string;
  jobName?: string;
  jobId?: string;
  user?: string;
  queue: string;
  state: string;
  reason?: string;
  reasonText: string;
  message?: string;
  outlook?: string;
  gpus: number;
  gpuMemory?: string;
  priorityClassName?: string;
  pods: { total: number; running: number; succeeded: number; failed: number };
  nodes: string[];
  created?: string;
  started?: string;
  finished?: string;
  exitCode?: number;
  /** Since when its GPUs do nothing, where that is measured. */
  idleSince?: string;
}

export interface SummaryRow {
  id: string;
  gpus: { total: number; allocated: number; free: number; largestFree: number; pending: number };
  workloads: Record<string, number>;
}

/** How many workloads of a state there are; the server leaves out what it does not know. */
export const countOf = (summary: SummaryRow, state: string): number => summary.workloads[state] ?? 0;
