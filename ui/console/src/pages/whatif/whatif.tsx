// SPDX-License-Identifier: Apache-2.0

/* What if quotas were other, or a gang came: the next scheduling cycle on a copy of the cluster, beside the one as it is. */
import { useEffect, useRef } from 'preact/hooks';
import { get, OURS } from '../../api/client';
import { usePreview, type Answer, type Preview } from '../../live/preview';
import type { QueueRow } from '../../live/rows';
import { queueColours, queueTree } from '../../live/queues';
import { sentence } from '../../live/text';
import { Chip } from '../../parts/bars';
import { Body, Head, Panel } from '../../parts/page';
import { Empty } from '../../parts/states';
import { Shape } from '../../parts/state-pill';
import { Outside } from '../../parts/text';
import { go, here, param, to } from '../../state/address';
import { useRead } from '../../state/read';
import { amountText, countText } from '../../text/format';
import { plain } from '../../text/plain';
import { amountWord, bodyOf, PARTS, readAmount, readChanges, readGang, withChange, writeChanges, type Part, type QueueChange } from './scenario';
import './whatif.css';

const TITLE = 'What-if';
const ROWS_MAX = 100;
const PART_NAMES: Record<Part, string> = { quota: 'Quota', limit: 'Limit', overQuotaWeight: 'Weight' };
const OUTCOMES = { starts: ['fine', 'The gang starts'], preempts: ['soon', 'The gang starts, and others have to leave'], waits: ['not now', 'The gang waits'], never: ['never', 'The gang never starts'] } as const;

function Amount({ queue, part, changes }: { queue: QueueRow; part: Part; changes: QueueChange[] }) {
  const changed = changes.find((one) => one.name === queue.name)?.[part];
  const onInput = (text: string): void => {
    const amount = readAmount(text);
    if (amount === undefined || Number.isFinite(amount)) go(here({ change: writeChanges(withChange(changes, queue.name, part, amount === queue[part] ? undefined : amount)) }), true);
  };
  const ref = useRef<HTMLInputElement>(null);
  // What is typed may be ahead of the address, and is not taken back while the field has the focus.
  useEffect(() => {
    const box = ref.current!;
    if (document.activeElement !== box) box.value = changed === undefined ? '' : amountWord(changed);
  }, [changed]);
  return (
    <input ref={ref} class={changed === undefined ? undefined : 'changed'} placeholder={amountWord(queue[part])} autocomplete="off" spellcheck={false}
      aria-label={`${PART_NAMES[part]} of ${plain(queue.name)}`} onInput={(event) => onInput(event.currentTarget.value)} />
  );
}

type ColourOf = (queue: string) => string;

function Quotas({ queues, changes, colourOf }: { queues: QueueRow[]; changes: QueueChange[]; colourOf: ColourOf }) {
  return (
    <div class="scroll">
      <table class="list scenario" aria-label="Quotas">
        <thead><tr><th scope="col">Queue</th>{PARTS.map((part) => <th key={part} scope="col" class="num">{PART_NAMES[part]}</th>)}<th scope="col" class="num wide">Allocated</th></tr></thead>
        <tbody>
          {queueTree(queues).map(({ queue, depth }) => (
            <tr key={queue.name}>
              <th scope="row" class={depth ? 'inner' : undefined}><Chip colour={colourOf(queue.name)} /> <Outside text={queue.displayName || queue.name} /></th>
              {PARTS.map((part) => <td key={part} class="num"><Amount queue={queue} part={part} changes={changes} /></td>)}
              <td class="num wide">{amountText(queue.allocated)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A gang of one queue: pods that start together or not at all. */
function GangFields({ queues }: { queues: QueueRow[] }) {
  const box = useRef<HTMLParagraphElement>(null);
  const [queue = '', pods = '', gpus = ''] = param('gang').split(':');
  // A scenario that somebody goes back to is shown, unless it is being typed.
  useEffect(() => {
    const select = box.current!.querySelector('select')!;
    if (!box.current!.contains(document.activeElement)) select.value = queue;
  }, [queue]);
  const look = (): void => {
    const values = [...box.current!.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-part]')].map((one) => one.value.trim());
    go(here({ gang: values[0] ? values.join(':') : '' }), true);
  };
  return (
    <p class="gang" ref={box} onInput={look}>
      <label>Also submit to <select data-part="queue"><option value="">nothing</option>{queues.filter((one) => one.isLeaf).map((one) => <option key={one.name} value={one.name} selected={one.name === queue}>{plain(one.name)}</option>)}</select></label>
      <label>pods <input data-part="pods" inputMode="numeric" defaultValue={pods || '1'} /></label>
      <label>GPUs each <input data-part="gpus" inputMode="decimal" defaultValue={gpus || '1'} /></label>
    </p>
  );
}

type Row = Preview['workloads'][number];

function outcomeOf({ with: after }: Row): string {
  if (after.evictedPods > 0) return `${countText(after.evictedPods, 'pod has', 'pods have')} to leave`;
  return after.startedPods ? 'starts' : after.state === 'Preempting' ? 'starts when others have left' : after.state.toLowerCase();
}

function Workloads({ rows }: { rows: Row[] }) {
  const changed = rows.filter((row) => row.without.state !== row.with.state || row.with.evictedPods > 0);
  if (!changed.length) return <p class="dim">No workload starts or leaves because of it.</p>;
  return (
    <ul class="leaving">
      {changed.slice(0, ROWS_MAX).map((row) => (
        <li key={row.workload}>
          <Shape of={row.with.evictedPods > 0 ? 'not now' : 'fine'} /> <a href={to('/workloads', { q: row.workload.split('/').at(-1) })}><Outside text={row.workload} /></a>
          <span class="dim">{` of ${plain(row.queue)}: ${outcomeOf(row)}${row.with.for ? `, for ${plain(row.with.for)}` : ''}`}</span>
        </li>
      ))}
      {changed.length > ROWS_MAX && <li class="dim">{`and ${changed.length - ROWS_MAX} more`}</li>}
    </ul>
  );
}

function Shares({ rows, colourOf }: { rows: Preview['queues']; colourOf: ColourOf }) {
  if (!rows.length) return null;
  const pair = ({ without, with: after }: { without: number; with: number }) => (without === after ? amountText(after) : <><span class="dim">{`${amountText(without)} → `}</span><b>{amountText(after)}</b></>);
  return (
    <table class="list" aria-label="Queues before and after">
      <thead><tr><th scope="col">Queue</th><th scope="col" class="num">Fair share</th><th scope="col" class="num">Allocated</th></tr></thead>
      <tbody>{rows.map((row) => <tr key={row.queue}><th scope="row"><Chip colour={colourOf(row.queue)} /> <Outside text={row.queue} /></th><td class="num">{pair(row.fairShare)}</td><td class="num">{pair(row.allocated)}</td></tr>)}</tbody>
    </table>
  );
}

function Outcome({ answer, isEmpty, colourOf }: { answer: Answer; isEmpty: boolean; colourOf: ColourOf }) {
  if (isEmpty) return <p class="dim">Type another quota, limit or weight, or choose a queue for a gang. What is there now is shown in grey.</p>;
  if (!answer) return <p class="dim">Asking the scheduler.</p>;
  if ('refusal' in answer) return <p class="note-line warn"><Outside text={answer.refusal.message} /></p>;
  const { preview } = answer;
  const outcome = preview.outcome && OUTCOMES[preview.outcome];
  return (
    <div data-answered="">
      {outcome && <h3><Shape of={outcome[0]} />{outcome[1]}</h3>}
      {preview.why && <p><Outside text={sentence(preview.why.causes?.[0]?.message ?? preview.why.message)} /></p>}
      <Workloads rows={preview.workloads} />
      {preview.hidden && <p class="dim">{`${countText(preview.hidden.workloads, 'workload')} that you do not see.`}</p>}
      <Shares rows={preview.queues} colourOf={colourOf} />
    </div>
  );
}

function Lab({ queues }: { queues: QueueRow[] }) {
  const changes = readChanges(param('change'));
  const gang = readGang(param('gang'));
  const answer = usePreview(bodyOf(changes, gang));
  const colours = queueColours(queues);
  const colourOf = (queue: string): string => colours.get(queue) ?? '--dim';
  return (
    <div class="lab">
      <Panel id="changes" title="If this were so" tools={(changes.length > 0 || gang) && <button type="button" class="button" onClick={() => go(here({ change: '', gang: '' }))}>As it is now</button>}>
        <Quotas queues={queues} changes={changes} colourOf={colourOf} />
        <GangFields queues={queues} />
      </Panel>
      <section class="panel answer live-answer" aria-labelledby="outcome-title">
        <h2 id="outcome-title">In the next scheduling cycle</h2>
        <div aria-live="polite"><Outcome answer={answer} isEmpty={!changes.length && !gang} colourOf={colourOf} /></div>
        <p class="foot-note">Tried on a copy of the cluster. Muster cannot tell yet what follows over hours: that takes the history of the cluster.</p>
      </section>
    </div>
  );
}

export default function WhatIf() {
  const read = useRead('what-if', async () => (await get<{ items: QueueRow[] }>(`${OURS}/ledger`)).items, { topics: ['org-units'] });
  return (
    <Body title={TITLE} read={read}>
      {(queues) => (
        <>
          <Head title={TITLE} lead="Who starts and who has to leave in one cycle, if quotas were other or a gang came. Nothing is changed." />
          {queues.length ? <Lab queues={queues} />
            : <section class="panel"><Empty title="No queues yet" text="Departments and projects have queues. Make them on the page Quota."><a class="button" href="/quota">Quota</a></Empty></section>}
        </>
      )}
    </Body>
  );
}
