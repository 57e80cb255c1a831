// SPDX-License-Identifier: Apache-2.0

/*
 * The cluster as it is now: one store for all pages. It is read once, and kept up to date by the rows of the stream. Workloads are too
 * many to keep: whoever shows some of them listens to their rows.
 */
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, OURS, Refusal } from '../api/client';
import { follow, type Rows } from '../api/stream';
import { queueColours } from './queues';
import type { NodeRow, QueueRow, SummaryRow, WorkloadRow } from './rows';

export const summary = signal<SummaryRow | null>(null);
export const nodes = signal<ReadonlyMap<string, NodeRow>>(new Map());
export const queues = signal<ReadonlyMap<string, QueueRow>>(new Map());
/** Parts that the caller may not see. */
export const denied = signal<ReadonlySet<string>>(new Set());
/** What went wrong when it was read for the first time. */
export const liveError = signal<Refusal | null>(null);
/** By how much the server's clock is ahead of ours, in milliseconds: times on a page are the server's. */
export const clockSkew = signal(0);

export const colours = computed(() => queueColours(queues.value.values()));

export const serverNow = (): number => Date.now() + clockSkew.value;

export function colourOf(queue: string): string {
  return colours.value.get(queue) ?? '--other';
}

interface State {
  version: string;
  time?: string;
  summary?: SummaryRow[];
  nodes?: NodeRow[];
  queues?: QueueRow[];
  denied?: string[];
}

/** Null says that everything may have changed. */
type WorkloadListener = (rows: WorkloadRow[] | null, gone: string[]) => void;
const listeners = new Set<WorkloadListener>();

function patched<Row extends { id: string }>(before: ReadonlyMap<string, Row>, rows: Row[] | undefined, gone: string[] | undefined): ReadonlyMap<string, Row> {
  if (!rows?.length && !gone?.length) return before;
  const after = new Map(before);
  for (const row of rows ?? []) after.set(row.id, row);
  for (const id of gone ?? []) after.delete(id);
  return after;
}

function heardTime(time: string | undefined): void {
  if (time) clockSkew.value = Date.parse(time) - Date.now();
}

function take(rows: Rows): void {
  heardTime(rows.time);
  if (rows.summary) summary.value = (rows.summary as SummaryRow[])[0] ?? summary.value;
  nodes.value = patched(nodes.value, rows.nodes as NodeRow[] | undefined, rows.gone?.nodes);
  queues.value = patched(queues.value, rows.queues as QueueRow[] | undefined, rows.gone?.queues);
  const changed = (rows.workloads ?? []) as WorkloadRow[];
  const gone = rows.gone?.workloads ?? [];
  if (changed.length || gone.length) for (const listener of listeners) listener(changed, gone);
}

const byId = <Row extends { id: string }>(rows: Row[] | undefined): ReadonlyMap<string, Row> => new Map((rows ?? []).map((row) => [row.id, row]));

interface Part<Row> { version: string; items: Row[] }

/** Null where the caller may not read it. */
async function readPart<Row>(path: string): Promise<Part<Row> | null> {
  try {
    return await get<Part<Row>>(`${OURS}/${path}`);
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return null;
    throw error;
  }
}

/** The parts by themselves, for whoever may see some of them and not the overview. */
async function readParts(): Promise<State> {
  const [map, ledger] = await Promise.all([readPart<NodeRow>('map'), readPart<QueueRow>('ledger')]);
  const state: State = { version: map?.version ?? ledger?.version ?? '', denied: ['summary', ...(map ? [] : ['nodes']), ...(ledger ? [] : ['queues'])] };
  return { ...state, nodes: map?.items ?? [], queues: ledger?.items ?? [] };
}

async function readState(): Promise<State> {
  try {
    return await get<State>(`${OURS}/state?parts=summary,nodes,queues`);
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) return readParts();
    throw error;
  }
}

/** Reads everything, and returns the version from which the stream goes on. */
async function load(): Promise<string> {
  try {
    const state = await readState();
    heardTime(state.time);
    summary.value = state.summary?.[0] ?? null;
    nodes.value = byId(state.nodes);
    queues.value = byId(state.queues);
    denied.value = new Set(state.denied ?? []);
    liveError.value = null;
    for (const listener of listeners) listener(null, []);
    return state.version;
  } catch (error) {
    if (error instanceof Refusal) liveError.value = error;
    throw error;
  }
}

let users = 0;
let end: (() => void) | null = null;

/** Keeps the store up to date for as long as the component is shown. */
export function useLive(): void {
  useEffect(() => {
    if (users++ === 0) end = follow({ load, take });
    return () => {
      if (--users > 0) return;
      end?.();
      end = null;
    };
  }, []);
}

/** Calls `listener` with rows of workloads that have changed. */
export function onWorkloads(listener: WorkloadListener): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}
