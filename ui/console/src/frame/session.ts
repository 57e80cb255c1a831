// SPDX-License-Identifier: Apache-2.0

/* Coming in, staying in, and going out. */
import { signal } from '@preact/signals';
import { call, onSessionEnd, OURS, Refusal } from '../api/client';
import { loadMe, me } from '../api/session';
import { forgetStream, startStream } from '../api/stream';
import { go } from '../state/address';
import { pauseWhile } from '../state/read';
import { takePlace } from './place';

/** What stands before the page: nothing, or a door with a sentence. */
export const door = signal<{ lead: string } | null>(null);

/** The session has ended: a door over the page, which stays as it is. Everybody who asks meanwhile waits for the same one. */
export const again = signal<{ name: string; id: string; done: () => void } | null>(null);

let waiting: Promise<void> | null = null;

function signInAgain(): Promise<void> {
  const { name, id } = me.value!;
  waiting ??= new Promise((done) => { again.value = { name, id, done }; });
  return waiting;
}

/** Somebody has signed in at the door over the page. */
export function renewed(): void {
  const before = again.value!;
  again.value = null;
  waiting = null;
  // Somebody else may see other things.
  if (me.value!.id !== before.id) location.reload();
  before.done();
}

export function enter(): void {
  door.value = null;
  const place = location.pathname === '/' && takePlace();
  if (place) go(place, true);
  startStream();
}

export async function startSession(): Promise<void> {
  onSessionEnd(signInAgain);
  pauseWhile(() => again.value !== null || door.value !== null);
  try {
    await loadMe();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    door.value = { lead: refusal.status === 401 ? 'Sign in to continue to the page that you asked for.' : refusal.message };
    return;
  }
  if (me.value!.mustChangePassword) door.value = { lead: '' };
  else enter();
}

/** Nothing of what was shown stays in memory. */
export async function signOut(): Promise<void> {
  forgetStream();
  await call('POST', `${OURS}/logout`).catch(() => { /* It has ended already. */ });
  me.value = null;
  takePlace();
  location.replace('/');
}
