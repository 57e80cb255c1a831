// SPDX-License-Identifier: Apache-2.0

/* The audit log: who changed what, newest first. */
import { useEffect, useRef } from 'preact/hooks';
import { get, REST } from '../../api/client';
import type { AuditEntry } from '../../api/types';
import { Drawer } from '../../parts/drawer';
import { Segments } from '../../parts/filter';
import { Body, Head, Panel } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { Mark, RowLink, Table, type Column } from '../../parts/table';
import { Facts, Outside } from '../../parts/text';
import { address, go, here, param } from '../../state/address';
import { useRead } from '../../state/read';
import { countText, numberText, timeText } from '../../text/format';
import { plain } from '../../text/plain';

const TITLE = 'Audit';
const PERIODS: [id: string, text: string, seconds: number | null][] = [
  ['24h', '24 hours', 86_400], ['7d', '7 days', 7 * 86_400], ['30d', '30 days', 30 * 86_400], ['all', 'All', null],
];
const ACTIONS = ['create', 'update', 'delete', 'sign-in', 'sign-out', 'reset-password'];
const FILTERS = ['who', 'q', 'action', 'result'];
const STEP = 100;
const MAX = 1000;
const TYPED = 250;

interface Data {
  total: number;
  entries: AuditEntry[];
}

function period() {
  return PERIODS.find(([id]) => id === param('period')) ?? PERIODS[0]!;
}

/** The text of a filter, of which commas would begin another one: each part has to be in the member. */
function filtersOf(member: string, operator: string, text: string): string[] {
  return text.split(',').map((part) => part.trim()).filter(Boolean).map((part) => `${member}${operator}${part}`);
}

async function load(): Promise<Data> {
  const [, , seconds] = period();
  const parts = new URLSearchParams({
    start: seconds ? new Date(Date.now() - seconds * 1000).toISOString() : '2000-01-01T00:00:00Z', end: '2200-01-01T00:00:00Z',
    numberOfSamples: String(Math.min(MAX, Number(param('n')) || STEP)),
  });
  const filters = [
    ...filtersOf('subject', '=@', param('who')), ...filtersOf('entity_name', '=@', param('q')), ...filtersOf('action', '==', param('action')), ...filtersOf('result', '==', param('result')),
  ];
  for (const filter of filters) parts.append('filterBy', filter);
  const answer = await get<{ total: number; audit_logs: AuditEntry[] }>(`${REST}/audit/log?${parts}`);
  return { total: answer.total, entries: answer.audit_logs };
}

type Options = [value: string, text: string][];

/** The boxes of the filter. What is typed may be ahead of the address, and a change of one box loses nothing of another. */
function Filters() {
  const box = useRef<HTMLSpanElement>(null);
  const timer = useRef(0);
  const query = address.value.query;
  const state = FILTERS.map((name) => query.get(name) ?? '').join('\n');
  const inputs = (): (HTMLInputElement | HTMLSelectElement)[] => [...box.current!.querySelectorAll<HTMLInputElement | HTMLSelectElement>('[data-filter]')];
  const apply = (): void => {
    timer.current = 0;
    go(here({ ...Object.fromEntries(inputs().map((input) => [input.dataset.filter!, input.value.trim()])), n: '' }), true);
  };
  useEffect(() => {
    if (timer.current) return;
    for (const input of inputs()) {
      const value = query.get(input.dataset.filter!) ?? '';
      if (input.value.trim() !== value) input.value = value;
    }
  }, [state]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const later = (): void => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(apply, TYPED);
  };
  const text = (name: string, label: string) => (
    <input type="search" id={name === 'q' ? 'filter' : undefined} data-filter={name} aria-label={label} placeholder={label} autocomplete="off" onInput={later} />
  );
  const choice = (name: string, label: string, options: Options) => (
    <select data-filter={name} aria-label={label} onChange={apply}>{options.map(([value, shown]) => <option key={value} value={value}>{shown}</option>)}</select>
  );
  return (
    <span class="filters" ref={box}>
      {text('who', 'Who')}
      {text('q', 'Object')}
      {choice('action', 'Action', [['', 'All actions'], ...ACTIONS.map((one): [string, string] => [one, one])])}
      {choice('result', 'Result', [['', 'All results'], ['Succeeded', 'done'], ['Failed', 'refused']])}
    </span>
  );
}

function Result({ entry }: { entry: AuditEntry }) {
  const isDone = entry.result === 'Succeeded';
  return <Mark icon={isDone ? 'tick' : 'cross'} tone={isDone ? 'dim' : 'bad'} text={isDone ? 'done' : `refused, ${entry.http_status_code}`} />;
}

const COLUMNS: Column<AuditEntry>[] = [
  { head: 'Time', isName: true, className: 'moment', cell: (entry) => <RowLink name={timeText(entry.timestamp)} id={entry.id} /> },
  { head: 'Who', cell: (entry) => entry.subject },
  { head: 'What', className: 'fill', cell: (entry) => <span><b>{plain(entry.action)}</b>{` ${plain(entry.entity_type)} `}<Outside class="object" text={entry.entity_name} /></span> },
  { head: 'Result', isWide: true, cell: (entry) => <Result entry={entry} /> },
  { head: 'Address', isWide: true, cell: (entry) => entry.source_ip || '–' },
];

function More({ total, entries }: Data) {
  if (entries.length >= total) return null;
  if (entries.length >= MAX) return <p class="foot">{`The newest ${numberText(MAX)} are shown: narrow the filter for older ones.`}</p>;
  const more = (): void => go(here({ n: entries.length + STEP }), true);
  return <p class="foot"><button type="button" class="more" onClick={more}>{`${numberText(Math.min(STEP, total - entries.length))} more`}</button></p>;
}

function EntryDrawer({ entries }: Data) {
  const entry = entries.find((one) => one.id === param('open'));
  if (!entry) return null;
  return (
    <Drawer key={entry.id} title={`${entry.action}: ${entry.entity_type}`} row={entry.id}>
      <Facts pairs={[
        ['Time', `${timeText(entry.timestamp)}, ${entry.timestamp}`], ['Who', `${entry.subject} (${entry.subject_type === 'User' ? 'user' : 'service account'})`], ['Object', entry.entity_name],
        ['Identifier', entry.entity_id], ['Result', <Result entry={entry} />], ['Request', <code>{plain(`${entry.http_method} ${entry.url}`)}</code>], ['Address', entry.source_ip],
      ]} />
    </Drawer>
  );
}

function leadOf(total: number, isFiltered: boolean): string {
  const [, text, seconds] = period();
  const match = isFiltered ? (total === 1 ? ' matches the filter' : ' match the filter') : '';
  return `${countText(total, 'entry', 'entries')} ${seconds ? `of the last ${text}` : 'in all'}${match}. Each is chained to the one before it by a hash.`;
}

export default function Audit() {
  const key = ['period', ...FILTERS, 'n'].map(param).join('\n');
  const read = useRead(key, load, { topics: ['audit'] });
  const isFiltered = FILTERS.some((name) => param(name));
  const periods = PERIODS.map(([id, text]) => ({ text, where: here({ period: id === '24h' ? '' : id, n: '' }), isOn: id === period()[0] }));
  return (
    <Body title={TITLE} read={read}>
      {(data) => (
        <>
          <Head title={TITLE} lead={leadOf(data.total, isFiltered)}><Segments label="Period" choices={periods} /></Head>
          <Panel id="audit" title="Changes and sign-ins" tools={<Filters />}>
            {data.entries.length ? <Table label="Audit log" rows={data.entries} columns={COLUMNS} idOf={(entry) => entry.id} />
              : isFiltered ? <NoMatch names={FILTERS} /> : <Empty title="No entries in this period" text="Every change and every sign-in is recorded here." />}
            <More {...data} />
          </Panel>
          <EntryDrawer {...data} />
        </>
      )}
    </Body>
  );
}
