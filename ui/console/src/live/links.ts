// SPDX-License-Identifier: Apache-2.0

/* Where workloads are shown. */
import { to } from '../state/address';

/** The address of the workloads that fit the terms. */
export function workloadsAt(...parts: string[]): string {
  return to('/workloads', { q: parts.filter(Boolean).join(' ') });
}

/** The address of one workload in the drawer. */
export function workloadAt(id: string): string {
  return to('/workloads', { open: id });
}
