// SPDX-License-Identifier: Apache-2.0

/* Is all well, who has the GPUs, and what waits? Every number leads to the list that it counts. */
import { get, OURS } from '../../api/client';
import { maySomewhere } from '../../api/session';
import { term, WAITING } from '../../live/filter';
import { workloadAt, workloadsAt } from '../../live/links';
import type { MapCell } from '../../live/maplayout';
import type { Count } from '../../live/reasons';
import { countOf, type NodeRow, type QueueRow, type SummaryRow } from '../../live/rows';
import { colourOf, denied, liveError, nodes, queues, summary, useLive } from '../../live/store';
import { gpuText } from '../../live/text';
import { overQuota } from '../../live/queues';
import { GpuMap } from '../../parts/gpu-map';
import { Ledger } from '../../parts/ledger';
import { MapKey } from '../../parts/map-key';
import { Head, Panel, useReady } from '../../parts/page';
import { Empty, Shapes, Trouble } from '../../parts/states';
import { now } from '../../parts/time';
import { go, to } from '../../state/address';
import { useRead } from '../../state/read';
import { amountText, countText, durationText } from '../../text/format';
import { IdlePanel, OverQuota, RecentPanel, WaitingPanel } from './panels';
import './overview.css';

interface Counts { items: Count[] }

/** What is said above all: at most two things, the worst first. */
function Lead({ row, all, borrowers }: { row: SummaryRow; all: ReadonlyMap<string, NodeRow>; borrowers: QueueRow[] }) {
  const { gpus: { total, allocated, pending } } = row;
  const lost = [...all.values()].filter((node) => !node.isReady).length;
  const waiting = countOf(row, 'Pending') + countOf(row, 'Preempting');
  return (
    <>
      {lost > 0 && <><a class="n bad" href="/nodes?q=NotReady">{countText(lost, 'node')}</a>{lost === 1 ? ' is not ready. ' : ' are not ready. '}</>}
      <a class="n" href={workloadsAt('state:Running')}>{`${amountText(allocated)} of ${amountText(total)}`}</a>
      {` GPUs are allocated${waiting ? '. ' : ', and nothing waits.'}`}
      {waiting > 0 && <><a class="n" href={workloadsAt(WAITING)}>{countText(waiting, 'workload')}</a>{` ${waiting === 1 ? 'waits' : 'wait'} for ${gpuText(pending)}.`}</>}
      {waiting > 0 && lost === 0 && borrowers[0] && <>{' '}<a class="n" href={workloadsAt(term('queue', borrowers[0].name))}>{borrowers[0].displayName || borrowers[0].name}</a>{` is ${gpuText(borrowers[0].borrowed)} over its quota.`}</>}
    </>
  );
}

function Numbers({ row, oldest, borrowers }: { row: SummaryRow; oldest: string; borrowers: QueueRow[] }) {
  const { gpus: g } = row;
  const waiting = countOf(row, 'Pending') + countOf(row, 'Preempting');
  const borrowed = borrowers.reduce((sum, queue) => sum + queue.borrowed, 0);
  const since = oldest ? `longest ${durationText((now.value - Date.parse(oldest)) / 1000)}` : waiting ? gpuText(g.pending) : 'nothing waits';
  const cells: [name: string, number: string, note: string, where: string][] = [
    ['Allocated', amountText(g.allocated), `of ${gpuText(g.total)}`, workloadsAt('state:Running')],
    ['Free', amountText(g.free), g.free ? `largest piece ${amountText(g.largestFree)}` : 'no room', '/nodes'],
    ['Running', String(countOf(row, 'Running')), countOf(row, 'Running') === 1 ? 'workload' : 'workloads', workloadsAt('state:Running')],
    ['Pending', String(waiting), since, workloadsAt(WAITING)],
    ['Over quota', amountText(borrowed), borrowers[0] ? `most by ${borrowers[0].displayName || borrowers[0].name}` : 'by no queue', '#over-quota-title'],
    ['Finished', String(countOf(row, 'Completed') + countOf(row, 'Failed')), countOf(row, 'Failed') ? `${countOf(row, 'Failed')} failed` : 'none failed', workloadsAt('state:Completed,Failed')],
  ];
  return (
    <dl class="panel strip">
      {cells.map(([name, number, note, where]) => <div key={name}><dt>{name}</dt><dd><a class="n" href={where} aria-label={`${name}: ${number}, ${note}`}>{number}</a><small>{note}</small></dd></div>)}
    </dl>
  );
}

function open(cell: MapCell): void {
  const workload = cell.gpu?.parts[0]?.holder.workload;
  go(workload ? workloadAt(workload) : to('/nodes', { open: cell.node.id }));
}

export default function Overview() {
  useLive();
  const row = summary.value;
  const error = liveError.value;
  const mayWork = maySomewhere('workloads:read');
  const reasons = useRead('reasons', () => (mayWork ? get<Counts>(`${OURS}/workloads/counts?by=reason&filter=${encodeURIComponent(WAITING)}`) : Promise.resolve({ items: [] })), { topics: ['workloads'], gather: 1000 });
  useReady(row !== null || error !== null);
  if (!row) return <><Head title="Overview" />{error ? <Trouble status={error.status} message={error.message} /> : <Shapes count={12} />}</>;
  const counts = reasons.data?.items ?? [];
  const oldest = counts.map((count) => count.oldest ?? '').filter(Boolean).sort()[0] ?? '';
  const borrowers = overQuota(queues.value.values());
  const maySeeNodes = !denied.value.has('nodes');
  return (
    <>
      <Head title="Overview" lead={<Lead row={row} all={nodes.value} borrowers={borrowers} />} />
      <Numbers row={row} oldest={oldest} borrowers={borrowers} />
      <div class="overview">
        <div class="stack">
        {maySeeNodes && (
          <div class="o1">
            <Panel id="map" title="GPUs" note="coloured by queue" tools={<a class="more" href="/nodes">Nodes and GPUs</a>}>
              {nodes.value.size ? <div class="map-box"><GpuMap nodes={nodes.value} colourOf={colourOf} onOpen={open} /><MapKey nodes={nodes.value} queues={queues.value} /></div>
                : <Empty title="No nodes yet" text="Nodes appear here when they join. On Kubernetes they show their GPUs once the GPU operator has labelled them.">
                    <pre><code>muster up --fake-nodes 4x8xH100</code></pre>
                  </Empty>}
            </Panel>
          </div>
        )}
        <div class="o3">
          <Panel id="queues" title="Queues" note="GPUs" tools={<a class="more" href="/quota">Quota</a>}>
            {queues.value.size ? <Ledger queues={queues.value} colourOf={colourOf} totalGpus={row.gpus.total} link={(queue, states) => workloadsAt(term('queue', queue), states ? term('state', states) : '')} />
              : <Empty title={denied.value.has('queues') ? 'You may not see queues' : 'No queues yet'} text={denied.value.has('queues') ? 'An administrator can give you a role in a project.' : 'A queue says how many GPUs a team owns.'} />}
          </Panel>
        </div>
        </div>
        <div class="stack">
        <div class="o2"><WaitingPanel counts={counts} error={reasons.error} isKnown={reasons.data !== null} /></div>
        <div class="o4"><OverQuota queues={borrowers} /></div>
        {maySeeNodes && <div class="o5"><IdlePanel nodes={nodes.value} /></div>}
        {mayWork && <div class="o6"><RecentPanel /></div>}
        </div>
      </div>
    </>
  );
}
