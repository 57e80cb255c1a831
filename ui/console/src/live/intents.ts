// SPDX-License-Identifier: Apache-2.0

/*
 * Actions on workloads that wait for a moment in which they can be undone. A page that is closed meanwhile sends them at once: what
 * was asked for is done.
 */
import { signal } from '@preact/signals';
import { call, get, REST, Refusal } from '../api/client';
import { token } from '../api/session';
import { say } from '../state/say';
import { plain } from '../text/plain';
import type { WorkloadRow } from './rows';

export type Verb = 'suspend' | 'resume' | 'delete';

/** A workload as the console has it: one that was submitted here, and can be changed here. */
export interface Submitted {
  id: string;
  name: string;
  namespace: string;
  phase: string;
  projectName: string;
  submittedBy?: string;
  /** Such as "Training". */
  type: string;
  images?: string[];
  command?: string;
  arguments?: string;
  actionsSupport?: { delete?: boolean; suspend?: boolean };
}

const UNDO_MS = 8000;
const PAST: Record<Verb, string> = { suspend: 'Suspended', resume: 'Resumed', delete: 'Deleted' };

/** What was asked for and is not done yet, by the id of the live row. */
export const asked = signal<ReadonlyMap<string, Verb>>(new Map());

interface Intent { verb: Verb; id: string; row: WorkloadRow; timer: number }
const intents = new Set<Intent>();

function mark(row: string, verb: Verb | null): void {
  const next = new Map(asked.value);
  if (verb) next.set(row, verb);
  else next.delete(row);
  asked.value = next;
}

/** Finds the workload that the console keeps for a row; null where it was submitted past the console. */
export async function findSubmitted(row: WorkloadRow): Promise<Submitted | null> {
  try {
    const answer = await get<{ workloads: Submitted[] }>(`${REST}/workloads?limit=500&search=${encodeURIComponent(row.name)}`);
    return answer.workloads.find((one) => one.name === row.name && one.namespace === row.namespace) ?? null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function send(intent: Intent): Promise<void> {
  intents.delete(intent);
  const { verb, id, row } = intent;
  try {
    const answer = await call<{ failed?: { message: string }[] }>('POST', `${REST}/workloads/batch`, { action: verb, ids: [id] });
    const failed = answer?.failed?.[0];
    say(failed ? `${plain(row.name)}: ${plain(failed.message)}` : `${PAST[verb]} ${plain(row.name)}. The cluster is applying it.`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    say(`${plain(row.name)}: ${plain(error.message)}`);
  } finally {
    mark(row.id, null);
  }
}

/** Asks for a change, which can be undone for eight seconds. */
export function intend(verb: Verb, id: string, row: WorkloadRow): void {
  const intent: Intent = { verb, id, row, timer: 0 };
  intent.timer = window.setTimeout(() => { void send(intent); }, UNDO_MS);
  intents.add(intent);
  mark(row.id, verb);
  say(`${PAST[verb]} ${plain(row.name)} in 8 seconds.`, () => {
    clearTimeout(intent.timer);
    intents.delete(intent);
    mark(row.id, null);
    say(`${plain(row.name)} stays as it is.`);
  });
}

addEventListener('pagehide', () => {
  for (const { verb, id, timer } of intents) {
    clearTimeout(timer);
    void fetch(`${REST}/workloads/batch`, {
      method: 'POST', keepalive: true, headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': token() }, body: JSON.stringify({ action: verb, ids: [id] }),
    });
  }
  intents.clear();
});
