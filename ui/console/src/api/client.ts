// SPDX-License-Identifier: Apache-2.0

/* Requests to the console. A session that has ended is renewed in between, and the request is sent again. */
import { signal } from '@preact/signals';
import { me, loadMe, token } from './session';

export const REST = '/api/v1';
export const REST2 = '/api/v2';
export const OURS = '/api/muster/v1';

/** When the server has answered last, and what went wrong since. */
export const contact = signal<{ at: Date | null; problem: string }>({ at: null, problem: '' });

/** What the server has refused, or that there was no answer: `status` is 0 then. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** The member of the request that is wrong, and why; null where the message names none. */
  get field(): { path: string; why: string } | null {
    const found = /^([\w.[\]-]+): (.+)$/s.exec(this.message);
    return found ? { path: found[1]!, why: found[2]! } : null;
  }
}

/** The server has said something. */
export function heard(): void {
  contact.value = { at: new Date(), problem: '' };
}

/** The server has not answered, or only to say that it cannot. */
export function unheard(problem: string): void {
  if (contact.value.problem !== problem) contact.value = { ...contact.value, problem };
}

export interface Options {
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  /** Sent once more after a cut, it has the effect of once. */
  key?: string;
}

/** One request as it is, without a renewal of the session. */
export async function ask<T = unknown>(method: string, path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = {};
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.key) headers['Idempotency-Key'] = options.key;
  if (method !== 'GET' && token()) headers['X-CSRF-Token'] = token();
  let answer: Response;
  try {
    answer = await fetch(path, {
      method, headers, cache: 'no-store', signal: options.signal ?? null, body: options.body === undefined ? null : JSON.stringify(options.body),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    unheard('Muster does not answer');
    throw new Refusal(0, 'Muster does not answer.');
  }
  const text = await answer.text();
  const json: unknown = text && (answer.headers.get('Content-Type') ?? '').startsWith('application/json') ? JSON.parse(text) : null;
  if (answer.status >= 500 && answer.status !== 501) unheard(`Muster answered with status ${answer.status}`);
  else heard();
  if (answer.ok) return json as T;
  throw new Refusal(answer.status, (json as { message?: string } | null)?.message || `Muster answered with status ${answer.status}.`);
}

/** Asks whoever looks at the page to sign in again; set by the frame. */
let signInAgain: () => Promise<void> = () => Promise.reject(new Refusal(401, 'Your session has ended.'));

export function onSessionEnd(again: () => Promise<void>): void {
  signInAgain = again;
}

/** Another tab may have signed in again: then the token of this one is old, and the session is not. */
async function recover(refusal: Refusal, method: string): Promise<void> {
  if (refusal.status === 401 && me.value) await signInAgain();
  else if (refusal.status === 403 && refusal.message.includes('X-CSRF-Token')) await loadMe();
  else if (refusal.status === 429 && method === 'GET') await new Promise((done) => { setTimeout(done, 1000); });
  else throw refusal;
}

export async function call<T = unknown>(method: string, path: string, body?: unknown, options: Omit<Options, 'body'> = {}): Promise<T> {
  try {
    return await ask<T>(method, path, { ...options, body });
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    await recover(refusal, method);
    return ask<T>(method, path, { ...options, body });
  }
}

export function get<T>(path: string, options: Omit<Options, 'body'> = {}): Promise<T> {
  return call<T>('GET', path, undefined, options);
}

/** All rows of a list that is answered in parts. */
export async function getAll<T>(path: string, member: string): Promise<T[]> {
  const rows: T[] = [];
  for (let offset = 0; ;) {
    const answer = await get<Record<string, unknown>>(`${path}${path.includes('?') ? '&' : '?'}limit=500&offset=${offset}`);
    rows.push(...(answer[member] as T[]));
    const next = Number(answer.next);
    if (!(next > offset)) return rows;
    offset = next;
  }
}
