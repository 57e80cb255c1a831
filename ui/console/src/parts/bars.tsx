// SPDX-License-Identifier: Apache-2.0

/* Bars of a ledger. All bars of one list have one scale, so that lengths compare. */

export interface Bar {
  /** Solid: what is held within the quota. */
  held: number;
  /** Hatched: what is held above the quota. */
  borrowed?: number;
  /** Infinity is unlimited. */
  quota: number;
  limit?: number;
  /** A triangle over the bar. */
  fairShare?: number;
  /** Dashed: what waits, beyond what is held. */
  pending?: number;
  /** The name of a custom property, such as --q0. */
  colour: string;
}

export function LedgerBar({ bar, scale, text }: { bar: Bar; scale: number; text: string }) {
  const { held, borrowed = 0, quota, limit = Infinity, fairShare, pending = 0, colour } = bar;
  const x = (value: number): string => `${(Math.min(value, scale) / scale) * 98}%`;
  const box = (from: number, end: number, kind: string) => (end - from > 1e-9 ? <rect x={x(from)} y={8.5} width={x(end - from)} height={11} class={kind} /> : null);
  return (
    <svg class="bar-svg" height={28} role="img" aria-label={text} style={{ '--c': `var(${colour})` }}>
      {Number.isFinite(quota) ? box(held, quota, 'lent') : null}
      {box(0, held, 'held')}
      {box(held, held + borrowed, 'borrowed')}
      {box(held + borrowed, held + borrowed + pending, 'pending')}
      {Number.isFinite(quota) && quota > 0 ? <line x1={x(quota)} x2={x(quota)} y1={4.5} y2={23.5} class="quota" /> : null}
      {Number.isFinite(limit) ? <svg x={x(limit)} y={5} overflow="visible"><path d="M-1 0h4v18h-4" class="limit" /></svg> : null}
      {fairShare === undefined ? null : <svg x={x(fairShare)} y={1} overflow="visible"><path d="M-4 0h8l-4 6z" class="share" /></svg>}
    </svg>
  );
}

/** The colours of a unit: its own, and for a department those of its projects. */
export function Chip({ colour, isDepartment = false }: { colour: string; isDepartment?: boolean }) {
  const background = isDepartment ? `linear-gradient(90deg, var(${colour}d) 34%, var(${colour}) 34% 67%, var(${colour}l) 67%)` : `var(${colour})`;
  return <span class="chip" aria-hidden="true" style={{ background }} />;
}
