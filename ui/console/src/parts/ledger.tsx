// SPDX-License-Identifier: Apache-2.0

/* The tree of queues with their figures. A number leads to the workloads that make it. */
import { useState } from 'preact/hooks';
import { ledgerScale, ledgerSum, ledgerText, queueTree, type QueueLine } from '../live/queues';
import type { QueueRow } from '../live/rows';
import { gpuText } from '../live/text';
import { amountText } from '../text/format';
import { Chip, LedgerBar, type Bar } from './bars';
import { Icon } from './icon';
import { Outside } from './text';

interface Props {
  queues: ReadonlyMap<string, QueueRow>;
  colourOf: (queue: string) => string;
  totalGpus: number;
  /** The address of the workloads of a queue, of some states or all. */
  link: (queue: string, states?: string) => string;
}

/** The bar of a queue: allocated within the quota, borrowed beyond it, and pending. */
function ledgerBar(queue: QueueRow, colour: string): Bar {
  const held = queue.quota < 0 ? queue.allocated : Math.min(queue.allocated, queue.quota);
  const bar: Bar = { held, borrowed: queue.allocated - held, quota: queue.quota < 0 ? Infinity : queue.quota, pending: queue.pending, colour };
  if (queue.limit >= 0) bar.limit = queue.limit;
  if (queue.fairShare > 0 || queue.pending > 0) bar.fairShare = queue.fairShare;
  return bar;
}

const HEADS = ['Quota', 'Fair share', 'Allocated', 'Borrowed', 'Lent', 'Pending'] as const;

function Figure({ label, value, href }: { label: string; value: number; href?: string }) {
  const text = value === 0 ? '–' : value < 0 ? 'unlimited' : amountText(value);
  return <td class={value === 0 ? 'num zero' : 'num'} data-label={label}>{href && value > 0 ? <a class="n" href={href}>{text}</a> : text}</td>;
}

function Line({ line, props, scale, isClosed, toggle }: { line: QueueLine; props: Props; scale: number; isClosed: boolean; toggle: () => void }) {
  const { queue, depth, hasChildren } = line;
  const colour = props.colourOf(queue.name);
  const name = queue.displayName || queue.name;
  return (
    <tr class={hasChildren ? 'branch' : 'leaf'} data-queue={queue.name}>
      <th scope="row" style={{ '--depth': depth }}>
        <div>
          {hasChildren && <button type="button" class="fold" aria-expanded={!isClosed} aria-label={`Queues below ${name}`} onClick={toggle}><Icon name={isClosed ? 'right' : 'down'} /></button>}
          <Chip colour={colour} isDepartment={hasChildren && depth === 0} />
          <a href={props.link(queue.name)} class="name" data-focus={`queue-${queue.name}`}><Outside text={name} /></a>
        </div>
      </th>
      <td class="bars"><LedgerBar bar={ledgerBar(queue, colour)} scale={scale} text={ledgerText(queue, amountText)} /></td>
      <Figure label="Quota" value={queue.quota} />
      <Figure label="Fair share" value={queue.fairShare} />
      <Figure label="Allocated" value={queue.allocated} href={props.link(queue.name, 'Running')} />
      <Figure label="Borrowed" value={queue.borrowed} />
      <Figure label="Lent" value={queue.lent} />
      <Figure label="Pending" value={queue.pending} href={props.link(queue.name, 'Pending')} />
    </tr>
  );
}

function sumNote(quota: number, total: number): string {
  const rest = total - quota;
  if (quota <= 0 || rest === 0) return '';
  return rest > 0 ? `${gpuText(rest)} ${rest <= 1 ? 'belongs' : 'belong'} to no queue` : `quotas exceed the cluster by ${gpuText(-rest)}`;
}

const KEYS: [string, string][] = [
  ['held', 'allocated'], ['borrowed', 'borrowed'], ['lent', 'unused quota'], ['pending', 'pending'], ['quota', 'quota'], ['share', 'fair share'],
];

export function Ledger(props: Props) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const lines = queueTree(props.queues.values(), closed);
  const scale = ledgerScale(lines, props.totalGpus);
  const sum = ledgerSum(props.queues.values());
  const toggle = (name: string): void => {
    const next = new Set(closed);
    if (!next.delete(name)) next.add(name);
    setClosed(next);
  };
  const sums = [sum.quota, sum.fairShare, sum.allocated, sum.borrowed, sum.lent, sum.pending];
  return (
    <>
      <table class="ledger" aria-label="Queues">
        <thead><tr><th scope="col">Queue</th><th scope="col"><span class="hidden">Bar</span></th>{HEADS.map((head) => <th key={head} scope="col" class="num">{head}</th>)}</tr></thead>
        <tbody>
          {lines.map((line) => <Line key={line.queue.name} line={line} props={props} scale={scale} isClosed={closed.has(line.queue.name)} toggle={() => toggle(line.queue.name)} />)}
        </tbody>
        <tfoot>
          <tr><th scope="row">All queues</th><td class="bars dim">{sumNote(sum.quota, props.totalGpus)}</td>{sums.map((value, i) => <Figure key={HEADS[i]} label={HEADS[i]!} value={value} />)}</tr>
        </tfoot>
      </table>
      <p class="key">{KEYS.map(([kind, text]) => <span key={kind}><i class={`ledger-key ${kind}`} />{text}</span>)}</p>
    </>
  );
}
