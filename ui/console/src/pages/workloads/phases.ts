// SPDX-License-Identifier: Apache-2.0

/* The phases of a workload from its history, which has the newest first and the cluster's events between them. */

export interface Record {
  meta: { creationTimestamp: string; type: string };
  spec: { phaseUpdate?: { phase: string; phaseMessage?: string } };
}

export interface Phase {
  name: string;
  message: string;
  since: string;
  /** When the next one came; none for the newest. */
  until?: string;
}

/** The newest first. A phase that is told again with other words is one. */
export function phasesOf(records: Record[]): Phase[] {
  const told = records.filter((record) => record.spec.phaseUpdate).toSorted((a, b) => Date.parse(a.meta.creationTimestamp) - Date.parse(b.meta.creationTimestamp));
  const phases: Phase[] = [];
  for (const { meta, spec } of told) {
    const { phase, phaseMessage = '' } = spec.phaseUpdate!;
    const last = phases.at(-1);
    if (last?.name === phase) {
      last.message = phaseMessage;
      continue;
    }
    if (last) last.until = meta.creationTimestamp;
    phases.push({ name: phase, message: phaseMessage, since: meta.creationTimestamp });
  }
  return phases.reverse();
}
