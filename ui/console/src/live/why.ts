// SPDX-License-Identifier: Apache-2.0

/* The answer of `muster why -o json`, as far as the page shows it. */

interface Amounts { cpu: string | number; memory: string | number; gpu: number }

export interface WhyQueue { name: string; quota: Amounts; limit: Amounts; fairShare: Amounts; allocated: Amounts; requested: Amounts }

export interface Remedy { kind: string; text: string; commands?: string[]; queue?: string; workload?: string }

export interface Why {
  reason: string;
  message: string;
  outlook: string;
  causes?: { reason: string; message: string }[];
  nodes?: {
    total: number;
    eligible: number;
    failed?: { nodes: number; problem?: string; reason?: string; filter?: string }[];
    insufficient?: { resource: string; nodes: number; requested: string | number; lacking: string | number; node: string }[];
  };
  queues?: WhyQueue[];
  holders?: { workload: string; queue: string; pods: number; allocated: Amounts; protection: string }[];
  remedies?: Remedy[];
  tries?: number;
}

export interface EventRow { time: string; type: string; reason: string; message: string; count: number; object?: string; kind?: string; name?: string }

export interface PodRow {
  name: string;
  uid: string;
  phase: string;
  node: string;
  nominatedNode: string;
  gpus: number;
  groups: string[];
  created: string;
  started?: string;
  reason: string;
  message: string;
  restarts: number;
}
