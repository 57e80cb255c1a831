// SPDX-License-Identifier: Apache-2.0

/* The lists of the overview: what waits and why, who is over quota, what is idle, what has changed. */
import { get, OURS, type Refusal } from '../../api/client';
import { term, WAITING } from '../../live/filter';
import { workloadAt, workloadsAt } from '../../live/links';
import { idleWorkloads, isMeasured } from '../../live/idle';
import { byOutlook, type Count } from '../../live/reasons';
import type { NodeRow, QueueRow, WorkloadRow } from '../../live/rows';
import { colourOf } from '../../live/store';
import { gpuText } from '../../live/text';
import { Chip } from '../../parts/bars';
import { nameOf } from '../../parts/gpu-map';
import { Panel } from '../../parts/page';
import { Shape } from '../../parts/state-pill';
import { Outside } from '../../parts/text';
import { Since } from '../../parts/time';
import { useRead } from '../../state/read';
import { amountText, countText } from '../../text/format';

const TITLES = { soon: 'Soon', 'not now': 'Not now', 'by choice': 'By choice', never: 'Never' };
const LIST_MAX = 5;
const LONGEST = 4;

interface Window { items: WorkloadRow[] }

function useWindow(filter: string, sort: string, limit: number) {
  return useRead(`${filter} ${sort}`, () => get<Window>(`${OURS}/workloads/window?filter=${encodeURIComponent(filter)}&sort=${sort}&limit=${limit}`), { topics: ['workloads'], gather: 1000 });
}

export function WaitingPanel({ counts, error, isKnown }: { counts: Count[]; error: Refusal | null; isKnown: boolean }) {
  const total = counts.reduce((sum, count) => sum + count.count, 0);
  const longest = useWindow(WAITING, 'created', LONGEST).data?.items ?? [];
  const more = total > 0 ? <a class="more" href={workloadsAt(WAITING)}>{countText(total, 'workload')}</a> : null;
  return (
    <Panel id="waiting" title="Waiting, by reason" tools={more}>
      {error && !isKnown && <p class="empty">{`This could not be read: ${error.message}`}</p>}
      {isKnown && total === 0 && <p class="empty">Nothing waits.</p>}
      {total > 0 && (
        <ul class="rows reasons">
          <li class="row head" aria-hidden="true"><span /><span /><span /><span class="num">workloads</span><span class="num">GPUs</span></li>
          {byOutlook(counts).map((count) => (
            <li key={count.value}>
              <a class="row" href={workloadsAt(WAITING, count.value ? term('reason', count.value) : '')}>
                <Shape of={count.outlook} /><b>{TITLES[count.outlook]}</b><span class="t dim"><Outside text={count.text || count.value || 'not evaluated yet'} /></span>
                <span class="num">{count.count}</span><span class="num dim">{amountText(count.gpus)}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {longest.length > 0 && (
        <>
          <h3 class="rows-title">Waiting longest</h3>
          <ul class="rows">
            {longest.map((row) => (
              <li key={row.id}>
                <a class="row three-cells" href={workloadAt(row.id)}>
                  <span class="t"><Chip colour={colourOf(row.queue)} /><Outside text={row.name} /> <Outside class="dim" text={row.queue} /></span>
                  <span class="num">{amountText(row.gpus)}</span><span class="num dim"><Since at={row.created} /></span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

export function OverQuota({ queues }: { queues: QueueRow[] }) {
  return (
    <Panel id="over-quota" title="Over quota" note="GPUs borrowed from others" tools={<a class="more" href="/quota">Quota</a>}>
      {queues.length === 0 && <p class="empty">No queue has more than its quota.</p>}
      <ul class="rows">
        {queues.slice(0, LIST_MAX).map((queue) => (
          <li key={queue.id}>
            <a class="row three-cells" href={workloadsAt(term('queue', queue.name), 'state:Running')}>
              <span class="t"><Chip colour={colourOf(queue.name)} /><Outside text={queue.displayName || queue.name} /></span>
              <span class="num">{`+${amountText(queue.borrowed)}`}</span><span class="num dim">{`${amountText(queue.allocated)} of ${amountText(queue.quota)}`}</span>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function IdlePanel({ nodes }: { nodes: ReadonlyMap<string, NodeRow> }) {
  const idle = idleWorkloads(nodes.values());
  const total = idle.reduce((sum, one) => sum + one.gpus, 0);
  return (
    <Panel id="idle" title="Allocated but idle" tools={total > 0 ? <a class="more" href="/nodes?q=idle">{gpuText(total)}</a> : null}>
      {idle.length === 0 && <p class="empty">{isMeasured(nodes.values()) ? 'Every allocated GPU is busy.' : 'Muster cannot tell yet: nothing measures how busy the GPUs of this cluster are.'}</p>}
      <ul class="rows">
        {idle.slice(0, LIST_MAX).map((one) => (
          <li key={one.workload}>
            <a class="row three-cells" href={workloadAt(one.workload)}>
              <span class="t"><Chip colour={colourOf(one.queue)} /><Outside text={nameOf(one.workload)} /> <Outside class="dim" text={one.queue} /></span>
              <span class="num">{amountText(one.gpus)}</span><Outside class="num dim t" text={one.nodes[0]} />
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function RecentPanel() {
  const started = useWindow('state:Running', '-started', LIST_MAX).data?.items ?? [];
  const ended = useWindow('state:Completed,Failed', '-finished', LIST_MAX).data?.items ?? [];
  const at = (row: WorkloadRow): string => row.finished ?? row.started ?? row.created ?? '';
  const recent = [...started, ...ended].sort((a, b) => at(b).localeCompare(at(a))).slice(0, LIST_MAX + 1);
  const verb = (row: WorkloadRow): string => (row.state === 'Running' ? 'started' : row.state === 'Failed' ? 'failed' : 'completed');
  return (
    <Panel id="recent" title="What changed" tools={<a class="more" href="/workloads?sort=-started">All</a>}>
      {recent.length === 0 && <p class="empty">Nothing has started yet.</p>}
      <ul class="rows">
        {recent.map((row) => (
          <li key={row.id}>
            <a class="row recent" href={workloadAt(row.id)}>
              <Shape of={row.state} /><span class="t"><Outside text={row.name} /> <span class="dim">{verb(row)}</span></span><span class="num">{amountText(row.gpus)}</span><span class="num dim"><Since at={at(row)} /></span>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
