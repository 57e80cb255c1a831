// SPDX-License-Identifier: Apache-2.0

/*
 * Rows of a list that the server sorts and filters. Parts of it are read as they come into sight. Rows that change are patched in
 * place; where a change may move rows, the parts in sight are read again, unless somebody points at them.
 */
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { get, OURS, Refusal } from '../api/client';
import type { WorkloadRow } from './rows';
import { onWorkloads } from './store';

interface Answer {
  total: number;
  matched: number;
  gpus: number;
  items: WorkloadRow[];
  hidden?: { workloads: number };
}

export interface Totals {
  total: number;
  matched: number;
  gpus: number;
  hidden: number;
}

const PART = 100;
/** Parts that are kept; more of them are let go, those not in sight first. */
const PARTS_MAX = 12;
const AGAIN_MS = 1000;

export class WindowSource {
  readonly totals = signal<Totals | null>(null);
  readonly error = signal<Refusal | null>(null);
  /** Counts up when rows are other ones. */
  readonly drawn = signal(0);
  /** Changes that may have moved rows while somebody pointed at them. */
  readonly waiting = signal(0);
  isHeld = false;
  private parts = new Map<number, WorkloadRow[]>();
  private asked = new Set<number>();
  private sight: [number, number] = [0, 60];
  private timer = 0;
  private isOver = false;

  constructor(private filter: string, private sort: string) {}

  rowAt(index: number): WorkloadRow | null {
    return this.parts.get(Math.floor(index / PART))?.[index % PART] ?? null;
  }

  show(from: number, to: number): void {
    this.sight = [from, to];
    for (let part = Math.floor(from / PART); part <= Math.floor(Math.max(from, to - 1) / PART); part++) {
      if (!this.parts.has(part) && !this.asked.has(part)) void this.read(part);
    }
  }

  private async read(part: number): Promise<void> {
    this.asked.add(part);
    try {
      const query = new URLSearchParams({ filter: this.filter, sort: this.sort, offset: String(part * PART), limit: String(PART) });
      const answer = await get<Answer>(`${OURS}/workloads/window?${query}`);
      if (this.isOver) return;
      this.parts.set(part, answer.items);
      this.forget();
      this.totals.value = { total: answer.total, matched: answer.matched, gpus: answer.gpus, hidden: answer.hidden?.workloads ?? 0 };
      this.error.value = null;
      this.drawn.value++;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!this.isOver) this.error.value = error;
    } finally {
      this.asked.delete(part);
    }
  }

  /** Parts far from what is in sight are let go, so that a long scroll keeps no more memory than a short one. */
  private forget(): void {
    const middle = (this.sight[0] + this.sight[1]) / 2 / PART;
    const far = [...this.parts.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const part of far.slice(0, Math.max(0, this.parts.size - PARTS_MAX))) this.parts.delete(part);
  }

  /** Reads what is in sight again, and forgets the rest. */
  again(): void {
    this.waiting.value = 0;
    const [first, last] = [Math.floor(this.sight[0] / PART), Math.floor(Math.max(this.sight[0], this.sight[1] - 1) / PART)];
    for (const part of this.parts.keys()) if (part < first || part > last) this.parts.delete(part);
    for (let part = first; part <= last; part++) void this.read(part);
  }

  private soon(): void {
    if (this.timer || this.isHeld) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      if (!this.isHeld && !document.hidden) this.again();
    }, AGAIN_MS);
  }

  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    if (!isHeld && this.waiting.value > 0) this.again();
  }

  patch(rows: WorkloadRow[] | null, gone: string[]): void {
    if (!rows) {
      this.again();
      return;
    }
    const changed = new Map(rows.map((row) => [row.id, row]));
    let isSeen = false;
    for (const part of this.parts.values()) {
      part.forEach((row, i) => {
        const next = changed.get(row.id);
        if (!next) return;
        part[i] = next;
        isSeen = true;
      });
    }
    if (isSeen) this.drawn.value++;
    if (this.isHeld) this.waiting.value += rows.length + gone.length;
    this.soon();
  }

  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }
}

/** The list for a filter and an order, for as long as the component is shown. */
export function useWindow(filter: string, sort: string): WindowSource {
  const source = useMemo(() => new WindowSource(filter, sort), [filter, sort]);
  useEffect(() => {
    source.show(0, 1);
    const stop = onWorkloads((rows, gone) => source.patch(rows, gone));
    return () => {
      stop();
      source.end();
    };
  }, [source]);
  return source;
}
