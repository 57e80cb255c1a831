// SPDX-License-Identifier: Apache-2.0

/* One workload: why it waits and what would help, its time, its pods, where they are, and what it asks for. */
import { get, OURS } from '../../api/client';
import type { WorkloadRow } from '../../live/rows';
import type { EventRow, PodRow, Why } from '../../live/why';
import { Drawer } from '../../parts/drawer';
import { StatePill } from '../../parts/state-pill';
import { Tabs } from '../../parts/tabs';
import { Outside } from '../../parts/text';
import { WhyAnswer } from '../../parts/why';
import { here, param } from '../../state/address';
import { useRead } from '../../state/read';
import { plain } from '../../text/plain';
import { Actions } from './actions';
import { History } from './history';
import { Logs, Metrics, When } from './measured';
import { Spec } from './spec';
import { Placement, Pods, Timeline } from './tabs';
import { elapsed } from './workloads';

export interface Detail {
  workload: WorkloadRow;
  pods: PodRow[];
}

const TABS = [
  ['why', 'Why & when'], ['timeline', 'Timeline'], ['metrics', 'Metrics'], ['logs', 'Logs'], ['pods', 'Pods'], ['placement', 'Placement'], ['spec', 'Spec'], ['history', 'History'],
] as const;
type Tab = (typeof TABS)[number][0];

export function pathOf(id: string): string {
  return `${OURS}/workloads/${id.split('/').map(encodeURIComponent).join('/')}`;
}

const isWaiting = (row: WorkloadRow): boolean => ['Pending', 'Preempting', 'Suspended'].includes(row.state);

function WhyTab({ row }: { row: WorkloadRow }) {
  const read = useRead(`why ${row.id}`, () => get<Why>(`${pathOf(row.id)}/why`), { topics: [], each: 5000 });
  if (read.data) return <><WhyAnswer why={read.data} /><When outlook={read.data.outlook} /></>;
  return <p class="dim">{read.error ? `Muster could not explain it: ${plain(read.error.message)}` : 'Asking the scheduler.'}</p>;
}

function TabContent({ tab, detail }: { tab: Tab; detail: Detail }) {
  const { workload: row, pods } = detail;
  const events = useRead(`events ${row.id}`, () => get<{ items: EventRow[] }>(`${pathOf(row.id)}/events`), { topics: ['workloads'], gather: 1000 });
  if (tab === 'why') return <WhyTab row={row} />;
  if (tab === 'pods') return <Pods pods={pods} />;
  if (tab === 'placement') return <Placement row={row} pods={pods} />;
  if (tab === 'metrics') return <Metrics row={row} />;
  if (tab === 'logs') return <Logs row={row} pods={pods} />;
  if (tab === 'spec') return <Spec row={row} pods={pods} />;
  if (tab === 'history') return <History row={row} pods={pods} />;
  return <Timeline row={row} events={events.data?.items ?? null} error={events.error?.message ?? ''} />;
}

function Content({ detail }: { detail: Detail }) {
  const row = detail.workload;
  const tabs = TABS.filter(([tab]) => tab !== 'why' || isWaiting(row));
  const tab = tabs.find(([name]) => name === param('tab'))?.[0] ?? tabs[0]![0];
  return (
    <>
      <p class="pill-line">
        <StatePill state={row.state}>{` ${isWaiting(row) ? 'for' : ''} ${elapsed(row)}`.replace('  ', ' ')}</StatePill>
        <Outside class="dim" text={isWaiting(row) ? row.reasonText : row.queue} />
      </p>
      <Actions row={row} />
      <Tabs label="Parts of the workload" tabs={tabs.map(([name, text]) => ({ text, where: here({ tab: name }), isHere: name === tab }))} />
      <div class="tab-content"><TabContent tab={tab} detail={detail} /></div>
    </>
  );
}

export function WorkloadDrawer({ id }: { id: string }) {
  const read = useRead(id, () => get<Detail>(pathOf(id)), { topics: ['workloads'], gather: 500, each: 5000 });
  const name = read.data ? read.data.workload.jobName || read.data.workload.name : id.split('/')[2] ?? id;
  const isGone = read.error?.status === 404;
  return (
    <Drawer title={name} row={id}>
      {isGone && <p class="note-line">{read.data ? 'This workload was deleted. The page shows its last state.' : 'This workload does not exist, or you may not see it. It may have been deleted.'}</p>}
      {!read.data && read.error && !isGone && <p class="note-line warn">{plain(read.error.message)}</p>}
      {read.data && <Content detail={read.data} />}
    </Drawer>
  );
}
