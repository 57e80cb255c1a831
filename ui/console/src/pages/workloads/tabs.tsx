// SPDX-License-Identifier: Apache-2.0

/* The tabs of a workload but the first. */
import { to } from '../../state/address';
import type { WorkloadRow } from '../../live/rows';
import { colourOf, nodes, serverNow } from '../../live/store';
import type { EventRow, PodRow } from '../../live/why';
import { Chip } from '../../parts/bars';
import { GpuMap } from '../../parts/gpu-map';
import { Outside } from '../../parts/text';
import { now, Time } from '../../parts/time';
import { Shape } from '../../parts/state-pill';
import { go } from '../../state/address';
import { amountText, durationText } from '../../text/format';
import { plain } from '../../text/plain';

const PODS_MAX = 200;

interface Lane { kind: string; text: string; from: number; to: number }

/** Waiting and running on one axis. */
function lanesOf(row: WorkloadRow): Lane[] {
  const at = (text: string | undefined): number => (text ? Date.parse(text) : 0);
  const [created, started, finished] = [at(row.created), at(row.started), at(row.finished)];
  if (!created) return [];
  const end = finished || serverNow();
  const lanes: Lane[] = [{ kind: 'waited', text: 'waited', from: created, to: started || end }];
  if (started) lanes.push({ kind: 'ran', text: finished ? 'ran' : 'runs', from: started, to: Math.max(end, started) });
  return lanes;
}

function Lanes({ row }: { row: WorkloadRow }) {
  void now.value;
  const lanes = lanesOf(row);
  const first = lanes[0]?.from ?? 0;
  const span = Math.max(1, (lanes.at(-1)?.to ?? 1) - first);
  return (
    <ul class="lanes" style={{ '--c': `var(${colourOf(row.queue)})` }}>
      {lanes.map((lane) => (
        <li key={lane.kind}>
          <span>{lane.text}</span>
          <span class="lane"><i class={lane.kind} style={{ left: `${((lane.from - first) / span) * 100}%`, width: `${Math.max(0.6, ((lane.to - lane.from) / span) * 100)}%` }} /></span>
          <span class="num">{durationText((lane.to - lane.from) / 1000)}</span>
        </li>
      ))}
    </ul>
  );
}

const objectOf = (event: EventRow): string => event.object ?? [event.kind, event.name].filter(Boolean).join('/');

export function Timeline({ row, events, error }: { row: WorkloadRow; events: EventRow[] | null; error: string }) {
  return (
    <>
      <Lanes row={row} />
      <h3>Events</h3>
      {!events && <p class="dim">{error ? plain(error) : 'Reading.'}</p>}
      {events?.length === 0 && <p class="dim">The cluster has no events of it.</p>}
      <ol class="events">
        {events?.map((event, i) => (
          <li key={`${event.time} ${i}`} class={event.type === 'Warning' ? 'warning' : undefined}>
            <Time at={event.time} />
            <span><b><Outside text={event.reason} /></b> <Outside class="dim" text={objectOf(event)} />{event.count > 1 && <span class="dim">{`, ${event.count} times`}</span>}<br /><Outside text={event.message} /></span>
          </li>
        ))}
      </ol>
    </>
  );
}

export function Pods({ pods }: { pods: PodRow[] }) {
  if (!pods.length) return <p class="dim">It has no pods now.</p>;
  return (
    <>
      <table class="list">
        <thead><tr><th scope="col">Pod</th><th scope="col">Phase</th><th scope="col" class="num">GPUs</th><th scope="col">Node</th></tr></thead>
        <tbody>
          {pods.slice(0, PODS_MAX).map((pod) => (
            <tr key={pod.uid || pod.name}>
              <th scope="row"><Outside text={pod.name} />{pod.message && <small class="dim block"><Outside text={pod.message} /></small>}</th>
              <td><span class="phase"><Shape of={pod.phase === 'Succeeded' ? 'Completed' : pod.phase} />{pod.phase}{pod.restarts > 0 && `, ${pod.restarts} restarts`}</span></td>
              <td class="num">{amountText(pod.gpus)}</td>
              <td>{pod.node ? <a href={to('/nodes', { open: pod.node })}><Outside text={pod.node} /></a> : pod.nominatedNode ? <span class="dim">{plain(pod.nominatedNode)} soon</span> : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {pods.length > PODS_MAX && <p class="foot-note">{`The first ${PODS_MAX} of ${pods.length} pods.`}</p>}
    </>
  );
}

export function Placement({ row, pods }: { row: WorkloadRow; pods: PodRow[] }) {
  const places = new Set(pods.map((pod) => pod.node).filter(Boolean));
  const shown = new Map([...nodes.value].filter(([, node]) => places.has(node.name)));
  if (!places.size) return <p class="dim">None of its pods has a node yet.</p>;
  const peers = new Map<string, string>();
  for (const node of shown.values()) for (const holder of node.holders) if (holder.workload && holder.workload !== row.id) peers.set(holder.workload, holder.queue);
  return (
    <>
      {shown.size > 0 && <GpuMap nodes={shown} colourOf={colourOf} height={320} selected={row.id} onOpen={(cell) => go(to('/nodes', { open: cell.node.id }))} />}
      <h3>On the same nodes</h3>
      {peers.size === 0 ? <p class="dim">Nothing else.</p>
        : <ul class="peers">{[...peers].slice(0, 50).map(([id, queue]) => <li key={id}><Chip colour={colourOf(queue)} /><a href={to('/workloads', { open: id })}><Outside text={id.split('/')[2]} /></a> <Outside class="dim" text={queue} /></li>)}</ul>}
    </>
  );
}
