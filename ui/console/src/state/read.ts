// SPDX-License-Identifier: Apache-2.0

/*
 * What a page has read from the server. It is read again when the stream names one of its topics, when the window gets the focus, soon
 * while something in it is on its way, and now and then. What was read stays while the next answer is awaited, and when it does not come.
 */
import { signal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Refusal } from '../api/client';
import { me } from '../api/session';
import { onChange } from '../api/stream';

export interface Read<T> {
  data: T | null;
  error: Refusal | null;
}

export interface How<T> {
  /** Topics of the stream; without them every change counts. */
  topics?: string[];
  /** Whether something is on its way, so that it is asked for soon. */
  isMoving?: (data: T) => boolean;
  /** How often it is read without a sign, in milliseconds. */
  each?: number;
  /** For how long changes are gathered before it is read once, in milliseconds. */
  gather?: number;
}

const POLL_SOON = 1000;
const POLL_LATER = 15_000;
/** Changes that come together are read once. */
const GATHER = 250;

class Reader<T> {
  readonly state: Signal<Read<T>> = signal<Read<T>>({ data: null, error: null });
  load: () => Promise<T>;
  private how: How<T>;
  private timer = 0;
  private turn = 0;
  private isGathering = false;

  constructor(load: () => Promise<T>, how: How<T>) {
    this.load = load;
    this.how = how;
  }

  async refresh(): Promise<void> {
    const turn = ++this.turn;
    this.isGathering = false;
    clearTimeout(this.timer);
    try {
      const data = await this.load();
      if (turn === this.turn) this.state.value = { data, error: null };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (turn === this.turn) this.state.value = { ...this.state.value, error };
    }
    if (turn === this.turn) this.wait();
  }

  private wait(): void {
    const { data } = this.state.value;
    const isMoving = data !== null && this.how.isMoving?.(data);
    this.soon(isMoving ? POLL_SOON : this.how.each ?? POLL_LATER);
  }

  private soon(after: number): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.isGathering = false;
      if (me.value && !document.hidden && !isPaused()) void this.refresh();
      else this.wait();
    }, after);
  }

  /** Changes that go on without a pause do not put the reading off. */
  note(topics: string[] | null): void {
    if (this.isGathering || (topics && this.how.topics && !this.how.topics.some((topic) => topics.includes(topic)))) return;
    this.isGathering = true;
    this.soon(this.how.gather ?? GATHER);
  }

  end(): void {
    this.turn = -1;
    clearTimeout(this.timer);
  }
}

const readers = new Set<Reader<unknown>>();
let isPaused = (): boolean => false;

/** Nothing is asked for while `paused` returns true, such as behind a door. */
export function pauseWhile(paused: () => boolean): void {
  isPaused = paused;
}

/** Reads everything that is shown again. */
export async function refresh(): Promise<void> {
  await Promise.all([...readers].map((reader) => reader.refresh()));
}

export function startReading(): void {
  onChange((change) => { for (const reader of readers) reader.note(change ? change.topics : null); });
  addEventListener('focus', () => { if (me.value && !isPaused()) void refresh(); });
}

/** What `load` answers, for as long as the component is shown. Another `key` reads anew, and keeps what was shown until then. */
export function useRead<T>(key: string, load: () => Promise<T>, how: How<T> = {}): Read<T> {
  const ref = useRef<Reader<T> | null>(null);
  ref.current ??= new Reader(load, how);
  const reader = ref.current;
  reader.load = load;
  useEffect(() => {
    readers.add(reader as Reader<unknown>);
    return () => {
      readers.delete(reader as Reader<unknown>);
      reader.end();
    };
  }, [reader]);
  useEffect(() => { void reader.refresh(); }, [reader, key]);
  return reader.state.value;
}
