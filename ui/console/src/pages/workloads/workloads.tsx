// SPDX-License-Identifier: Apache-2.0

/* What runs and waits: one list, however long, that the server sorts and filters. Filter, order and what is open stand in the address. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { maySomewhere } from '../../api/session';
import { terms, withTerm, termOf, WAITING } from '../../live/filter';
import { countOf, type SummaryRow, type WorkloadRow } from '../../live/rows';
import { asked } from '../../live/intents';
import { colourOf, serverNow, summary, useLive } from '../../live/store';
import { fewText, gpuText } from '../../live/text';
import { useWindow, type WindowSource } from '../../live/window';
import { Chip } from '../../parts/bars';
import { FilterBox, Segments } from '../../parts/filter';
import { Grid } from '../../parts/grid';
import { Icon } from '../../parts/icon';
import { Head, MainLink, useReady } from '../../parts/page';
import { Empty, NoMatch, Shapes, Trouble } from '../../parts/states';
import { Shape } from '../../parts/state-pill';
import { RowLink, type Column } from '../../parts/table';
import { Outside } from '../../parts/text';
import { now } from '../../parts/time';
import { go, here, param } from '../../state/address';
import { amountText, countText, durationText } from '../../text/format';
import { plain } from '../../text/plain';
import { WorkloadDrawer } from './drawer';
import './workloads.css';

const ENDED = ['Completed', 'Failed', 'Cancelled'];

/** How long it waits, runs or ran. */
export function elapsed(row: WorkloadRow): string {
  const at = (text: string | undefined): number => (text ? Date.parse(text) : 0);
  if (ENDED.includes(row.state)) return row.started && row.finished ? durationText((at(row.finished) - at(row.started)) / 1000) : '–';
  const from = (row.state === 'Running' && at(row.started)) || at(row.created);
  void now.value;
  return from ? durationText((serverNow() - from) / 1000) : '–';
}

function State({ row }: { row: WorkloadRow }) {
  const verb = asked.value.get(row.id);
  const reason = verb ? `asked to ${verb}` : row.state === 'Completed' || row.state === 'Running' ? '' : row.reasonText;
  return <span class="state-cell"><Shape of={row.state} /><b>{row.state}</b>{reason && <Outside class="dim" text={reason} />}</span>;
}

function Name({ row }: { row: WorkloadRow }) {
  const more = [row.namespace !== row.queue && row.namespace !== 'default' ? row.namespace : '', row.kind === 'Job' ? '' : row.kind].filter(Boolean).join(' · ');
  return <RowLink name={row.jobName || row.name} id={row.id}>{more && <small><Outside text={more} /></small>}</RowLink>;
}

/** Columns with the name by which the server sorts them. */
const COLUMNS: (Column<WorkloadRow> & { sort?: string })[] = [
  { head: 'Name', sort: 'name', isName: true, className: 'col-name', cell: (row) => <Name row={row} /> },
  { head: 'State', sort: 'state', className: 'col-state', cell: (row) => <State row={row} /> },
  { head: 'Queue', sort: 'queue', className: 'col-queue', cell: (row) => <span><Chip colour={colourOf(row.queue)} /><Outside text={row.queue || '–'} /></span> },
  { head: 'Owner', sort: 'user', isWide: true, className: 'col-owner', cell: (row) => row.user || '–' },
  { head: 'GPUs', sort: 'gpus', isNumber: true, className: 'col-gpus', cell: (row) => (row.gpus ? amountText(row.gpus) : row.gpuMemory ?? '–') },
  { head: 'Pods', sort: 'pods', isNumber: true, isWide: true, className: 'col-pods', cell: (row) => (row.state === 'Running' && row.pods.running !== row.pods.total ? `${row.pods.running} of ${row.pods.total}` : String(row.pods.total)) },
  { head: 'Nodes', isWide: true, className: 'col-nodes', cell: (row) => fewText(row.nodes) || '–' },
  { head: 'Time', sort: 'created', isNumber: true, className: 'col-time', cell: (row) => elapsed(row) },
];

/** A head that sorts: once, the other way round, and back to the newest first. */
function SortHead({ head, by }: { head: string; by: string | undefined }) {
  const sort = param('sort');
  if (!by) return <>{head}</>;
  const isOn = sort === by || sort === `-${by}`;
  const next = sort === by ? `-${by}` : sort === `-${by}` ? '' : by;
  return (
    <button type="button" class="sort" aria-label={`Sort by ${head.toLowerCase()}`} onClick={() => go(here({ sort: next }))}>
      {head}{isOn && <span class={sort.startsWith('-') ? 'turned' : ''}><Icon name="down" /></span>}
    </button>
  );
}

const STATES: [text: string, states: string, count: (row: SummaryRow) => number][] = [
  ['All', '', (row) => Object.values(row.workloads).reduce((sum, count) => sum + count, 0)],
  ['Pending', 'Pending,Preempting', (row) => countOf(row, 'Pending') + countOf(row, 'Preempting')],
  ['Running', 'Running', (row) => countOf(row, 'Running')],
  ['Suspended', 'Suspended', (row) => countOf(row, 'Suspended')],
  ['Finished', ENDED.join(), (row) => ENDED.reduce((sum, state) => sum + countOf(row, state), 0)],
];

function States({ filter }: { filter: string }) {
  const row = summary.value;
  const chosen = termOf(filter, 'state');
  return (
    <Segments label="State" choices={STATES.map(([text, states, count]) => ({
      text: row ? `${text} ${count(row).toLocaleString('en')}` : text, where: here({ q: withTerm(filter, 'state', states), open: '' }), isOn: chosen === states,
    }))} />
  );
}

/** Terms of the filter that were not typed, such as a queue that was clicked, each with a way out. */
function Terms({ filter }: { filter: string }) {
  const shown = terms(filter).filter((one) => !one.startsWith('state:') && /^-?\w+(:|[<>=])/.test(one));
  if (!shown.length) return null;
  const without = (one: string): string => here({ q: terms(filter).filter((other) => other !== one).join(' ') });
  return (
    <ul class="terms" aria-label="Filters">
      {shown.map((one) => <li key={one}><button type="button" class="term" aria-label={`Remove the filter ${plain(one)}`} onClick={() => go(without(one))}><Outside text={one} /><Icon name="cross" /></button></li>)}
    </ul>
  );
}

function useIsPhone(): boolean {
  const query = '(max-width: 640px)';
  const [isPhone, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const look = (): void => set(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, []);
  return isPhone;
}

const ROW = 34;
const CARD = 68;

function List({ source }: { source: WindowSource }) {
  const box = useRef<HTMLDivElement>(null);
  const isPhone = useIsPhone();
  void source.drawn.value;
  const totals = source.totals.value;
  if (!totals) return null;
  if (totals.total === 0) {
    return (
      <Empty title="Nothing has been submitted yet" text="A workload is a notebook, a training or a service that asks for GPUs.">
        <pre><code>muster submit --gpus 0.5 -- python train.py</code></pre>
      </Empty>
    );
  }
  if (totals.matched === 0) return <NoMatch />;
  const hold = (isHeld: boolean): void => source.hold(isHeld || Boolean(box.current?.contains(document.activeElement)));
  const onKey = (event: KeyboardEvent): void => {
    const rows = box.current?.querySelector('.grid-box');
    if (!rows || (event.key !== 'Home' && event.key !== 'End')) return;
    rows.scrollTop = event.key === 'Home' ? 0 : rows.scrollHeight;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    const target = event.target as HTMLElement;
    if (target.closest('a, button') || getSelection()?.toString()) return;
    target.closest('tr')?.querySelector<HTMLElement>('[data-row]')?.click();
  };
  return (
    <div class="window" ref={box} onMouseEnter={() => hold(true)} onMouseLeave={() => hold(false)} onFocusCapture={() => source.hold(true)}
      onBlurCapture={() => setTimeout(() => hold(false))} onKeyDown={onKey} onClick={onClick}>
      <Grid label="Workloads" columns={COLUMNS} count={totals.matched} rowAt={(index) => source.rowAt(index)} idOf={(row) => row.id} rowHeight={isPhone ? CARD : ROW}
        headOf={(column) => <SortHead head={column.head} by={(column as (typeof COLUMNS)[number]).sort} />} onShow={(from, to) => source.show(from, to)} />
    </div>
  );
}

function Found({ source }: { source: WindowSource }) {
  const totals = source.totals.value;
  if (!totals) return null;
  const count = totals.matched === totals.total ? totals.matched.toLocaleString('en') : `${totals.matched.toLocaleString('en')} of ${totals.total.toLocaleString('en')}`;
  return <span class="dim found" role="status">{`${count}, ${gpuText(totals.gpus)}${totals.hidden ? `, ${totals.hidden.toLocaleString('en')} not visible to you` : ''}`}</span>;
}

export default function Workloads() {
  useLive();
  const filter = param('q');
  const source = useWindow(filter, param('sort') || '-created');
  const open = param('open');
  const totals = source.totals.value;
  const error = source.error.value;
  const waiting = source.waiting.value;
  useReady(totals !== null || error !== null);
  const lead = summary.value && countOf(summary.value, 'Pending') + countOf(summary.value, 'Preempting');
  return (
    <>
      <Head title="Workloads" lead={lead ? <><a class="n" href={here({ q: WAITING, open: '' })}>{countText(lead, 'workload')}</a>{` ${lead === 1 ? 'waits' : 'wait'} for ${gpuText(summary.value!.gpus.pending)}.`}</> : summary.value ? 'Nothing waits.' : ''}>
        {maySomewhere('workloads:create') && <MainLink text="Submit" where="/submit" />}
      </Head>
      <section class="panel workloads" aria-label="Workloads">
        <header>
          <States filter={filter} />
          <span class="grow" />
          {waiting > 0 && <button type="button" class="more" onClick={() => source.again()}>{`${countText(waiting, 'change')}, sort again`}</button>}
          <Found source={source} />
          <FilterBox label="Filter workloads" placeholder="queue:vision gpus>=8" />
        </header>
        <Terms filter={filter} />
        {error && totals && error.status !== 400 && <p class="note-line warn" role="alert">{`${plain(error.message)} What you see may be old.`}</p>}
        {error?.status === 400 && <p class="note-line warn" role="alert"><Outside text={error.message} /></p>}
        {!totals && (error ? error.status !== 400 && <Trouble status={error.status} message={error.message} /> : <Shapes count={14} />)}
        <List source={source} />
      </section>
      {open && <WorkloadDrawer key={open} id={open} />}
    </>
  );
}
