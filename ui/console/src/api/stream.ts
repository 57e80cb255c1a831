// SPDX-License-Identifier: Apache-2.0

/*
 * The stream of changes. An event names what has changed, and whoever shows it reads it again. After a cut the stream goes on after
 * the last event that came; where the server no longer has the events in between, it says "reset", and everything is read again.
 * A browser opens six connections to a server: a tab that nobody sees gives its stream back.
 */
import { signal } from '@preact/signals';
import { heard, Refusal, unheard, OURS } from './client';
import { frames } from './frames';

export interface Change {
  topics: string[];
  time: string;
  type: string;
  action: string;
  id: string;
  name: string;
}

type Listener = (change: Change | null) => void;

/** Rows that have changed, by part, and the ids of those that are no more. */
export interface Rows {
  time?: string;
  version: string;
  gone?: Record<string, string[]>;
  [part: string]: unknown;
}

/** The topics of the organisation, which name what is to be read again. */
const ORGANISATION = ['org-units', 'node-pools', 'assets', 'policies', 'access', 'audit'];

/** The topics whose changes come as rows, by their parts. */
const ROW_TOPICS: Record<string, string> = { summary: 'cluster', nodes: 'map', queues: 'ledger', workloads: 'workloads' };

/** Whoever keeps rows of the cluster: it reads them all by `load`, which answers their version, and `take`s those that change. */
export interface Follower {
  load: () => Promise<string>;
  take: (rows: Rows) => void;
}

/** Whether events come now. */
export const isLive = signal(false);

const SILENCE_MAX = 40_000;
const HIDDEN_MAX = 60_000;
const WAIT_MIN = 500;
const WAIT_MAX = 30_000;

const listeners = new Set<Listener>();
let last = '';
let follower: Follower | null = null;
let running: AbortController | null = null;
let silence = 0;
let hidden = 0;

/** Calls `listener` for each change, and with null when everything may have changed. Returns what ends that. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

function tell(change: Change | null): void {
  for (const listener of listeners) listener(change);
}

/** A server that says nothing for so long is gone: it has a beat each 15 seconds. */
function expectWord(controller: AbortController): void {
  clearTimeout(silence);
  silence = window.setTimeout(() => controller.abort('silence'), SILENCE_MAX);
}

/** The address of the stream. Rows are read before it is opened for the first time, and changes are told from their version on. */
async function place(): Promise<string> {
  if (!follower) return `${OURS}/stream`;
  const rows = `${OURS}/stream?topics=${[...ORGANISATION, ...Object.values(ROW_TOPICS)].join()}`;
  if (last) return rows;
  try {
    const version = await follower.load();
    return version ? `${rows}&since=${encodeURIComponent(version)}` : rows;
  } catch (error) {
    // Whoever may not see the rows hears of everything else.
    if (error instanceof Refusal && error.status >= 400 && error.status < 500) return `${OURS}/stream`;
    throw error;
  }
}

async function listen(controller: AbortController): Promise<void> {
  const where = await place();
  const headers: Record<string, string> = last ? { 'Last-Event-ID': last } : {};
  const answer = await fetch(where, { headers, cache: 'no-store', signal: controller.signal });
  if (!answer.ok || !answer.body) throw new Error(String(answer.status));
  isLive.value = true;
  expectWord(controller);
  for await (const frame of frames(answer.body)) {
    expectWord(controller);
    heard();
    if (frame.id) last = frame.id;
    if (frame.event === 'rows') takeRows(JSON.parse(frame.data) as Rows);
    else if (frame.event === 'reset') await restart();
    else if (frame.event === 'change') tell(JSON.parse(frame.data) as Change);
  }
}

async function run(controller: AbortController): Promise<void> {
  let wait = WAIT_MIN;
  while (running === controller) {
    const attempt = new AbortController();
    controller.signal.addEventListener('abort', () => attempt.abort(), { once: true });
    try {
      await listen(attempt);
      wait = WAIT_MIN;
    } catch (error) {
      if (running !== controller) return;
      // A refused stream is no cut: the next request to the server finds out why.
      if (!/^\d+$/.test(String((error as Error).message))) unheard('Muster does not answer');
      if (isLive.value) wait = WAIT_MIN;
    }
    isLive.value = false;
    const moment = wait * (0.5 + Math.random());
    await new Promise((done) => { setTimeout(done, moment); });
    wait = Math.min(WAIT_MAX, wait * 2);
  }
}

/** Rows are kept by the follower; whoever has read something else of their topics reads it again. */
function takeRows(rows: Rows): void {
  follower?.take(rows);
  const topics = Object.entries(ROW_TOPICS).filter(([part]) => part in rows || part in (rows.gone ?? {})).map(([, topic]) => topic);
  tell({ topics, time: rows.time ?? '', type: 'rows', action: '', id: '', name: '' });
}

/** Everything may have changed. */
async function restart(): Promise<void> {
  await follower?.load();
  tell(null);
}

/** Keeps rows up to date. Returns what ends that. */
export function follow(one: Follower): () => void {
  const open = (next: Follower | null): void => {
    const wasOpen = running !== null;
    forgetStream();
    follower = next;
    if (wasOpen) startStream();
  };
  open(one);
  return () => { if (follower === one) open(null); };
}

export function startStream(): void {
  if (running) return;
  running = new AbortController();
  void run(running);
}

export function stopStream(): void {
  clearTimeout(silence);
  const old = running;
  running = null;
  isLive.value = false;
  old?.abort();
}

/** After a sign-out: the next stream is somebody else's. */
export function forgetStream(): void {
  stopStream();
  last = '';
}

document.addEventListener('visibilitychange', () => {
  clearTimeout(hidden);
  if (!document.hidden) {
    if (last) startStream();
    return;
  }
  hidden = window.setTimeout(stopStream, HIDDEN_MAX);
});
