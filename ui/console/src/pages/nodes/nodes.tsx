// SPDX-License-Identifier: Apache-2.0

/* Where is room, and where is trouble? The map of GPUs by rack, type or pool, what fits into the room that is left, and all nodes. */
import { get, OURS } from '../../api/client';
import { idleWorkloads, isMeasured } from '../../live/idle';
import type { Grouping } from '../../live/gpus';
import type { MapCell } from '../../live/maplayout';
import type { NodeRow } from '../../live/rows';
import { colourOf, denied, liveError, nodes, queues, useLive } from '../../live/store';
import { gpuText, memoryText, modelText } from '../../live/text';
import { FilterBox, Segments } from '../../parts/filter';
import { GpuMap } from '../../parts/gpu-map';
import { Grid } from '../../parts/grid';
import { MapKey } from '../../parts/map-key';
import { Head, Panel, useReady } from '../../parts/page';
import { Empty, Forbidden, NoMatch, Shapes, Trouble } from '../../parts/states';
import { Shape } from '../../parts/state-pill';
import { RowLink, type Column } from '../../parts/table';
import { go, here, param } from '../../state/address';
import { useRead } from '../../state/read';
import { amountText, countText, matches } from '../../text/format';
import { NodeDrawer } from './drawer';
import './nodes.css';

interface Holes { items: { gpusPerPod: number; pods: number; nodes: number }[] }

export const stateOf = (node: NodeRow): string => (!node.isReady ? 'NotReady' : node.isCordoned ? 'Cordoned' : 'Ready');
const freeOf = (node: NodeRow): number => Math.max(0, node.gpus - node.gpusAllocated);

const GROUPINGS: [Grouping, string][] = [['rack', 'Rack'], ['model', 'GPU type'], ['pool', 'Node pool']];

/** Nodes that fit all words; "idle" and "free" are asked of the node, everything else of its texts. */
function filtered(all: ReadonlyMap<string, NodeRow>, filter: string): NodeRow[] {
  const words = filter.split(/\s+/).filter(Boolean);
  const isIdle = (node: NodeRow): boolean => node.holders.some((holder) => holder.busy === 0);
  return [...all.values()].filter((node) => words.every((word) => (
    word === 'idle' ? isIdle(node) : word === 'free' ? freeOf(node) > 0
      : matches(word, node.name, stateOf(node), modelText(node.gpuModel), node.nodePool, node.rack, ...node.holders.map((holder) => holder.queue))
  ))).sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

function Bar({ node }: { node: NodeRow }) {
  const part = node.gpus ? Math.min(1, node.gpusAllocated / node.gpus) : 0;
  return <span class="use-bar" role="img" aria-label={`${amountText(node.gpusAllocated)} of ${gpuText(node.gpus)} allocated`}><i style={{ width: `${part * 100}%` }} /></span>;
}

const COLUMNS: Column<NodeRow>[] = [
  { head: 'Node', isName: true, className: 'col-name', cell: (node) => <RowLink name={node.name} id={node.id} /> },
  { head: 'State', className: 'col-state', cell: (node) => <span class="state-cell"><Shape of={stateOf(node)} /><b>{stateOf(node) === 'NotReady' ? 'Not ready' : stateOf(node)}</b></span> },
  { head: 'GPU', className: 'col-gpu', isWide: true, cell: (node) => (node.gpus ? `${modelText(node.gpuModel)}` : 'none') },
  { head: 'Pool', className: 'col-pool', isWide: true, cell: (node) => node.nodePool || 'default' },
  { head: 'Allocated', className: 'col-bar', cell: (node) => (node.gpus ? <Bar node={node} /> : '–') },
  { head: 'Free', isNumber: true, className: 'col-free', cell: (node) => (node.gpus ? `${amountText(freeOf(node))} of ${node.gpus}` : '–') },
  { head: 'CPUs', isNumber: true, isWide: true, className: 'col-free', cell: (node) => node.cpus },
  { head: 'Memory', isNumber: true, isWide: true, className: 'col-memory', cell: (node) => memoryText(node.memory) },
  { head: 'Pods', isNumber: true, isWide: true, className: 'col-pods', cell: (node) => String(node.pods) },
];

function HolesPanel() {
  const read = useRead('holes', () => get<Holes>(`${OURS}/holes`), { topics: ['map'], gather: 1000 });
  const items = read.data?.items ?? [];
  const most = Math.max(1, ...items.map((item) => item.pods));
  return (
    <Panel id="holes" title="Room for new pods" note="that fit now">
      {!read.data && <p class="empty">{read.error ? read.error.message : 'Reading.'}</p>}
      {read.data && items.every((item) => item.pods === 0) && <p class="empty">No whole GPU is free.</p>}
      <ul class="rows holes">
        {items.map((item) => (
          <li key={item.gpusPerPod} class="row">
            <b>{`${item.gpusPerPod} × GPU`}</b>
            <span class="use-bar" aria-hidden="true"><i style={{ width: `${(item.pods / most) * 100}%` }} /></span>
            <span class="num">{item.pods ? countText(item.pods, 'pod') : 'none'}</span>
            <span class="num dim">{item.pods ? `on ${countText(item.nodes, 'node')}` : ''}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function open(cell: MapCell): void {
  go(here({ open: cell.node.id }));
}

function leadOf(all: ReadonlyMap<string, NodeRow>): string {
  let [total, free, lost, cordoned] = [0, 0, 0, 0];
  for (const node of all.values()) {
    total += node.gpus;
    if (!node.isReady) lost++;
    else if (node.isCordoned) cordoned++;
    else free += freeOf(node);
  }
  const trouble = [lost ? `${countText(lost, 'node')} not ready` : '', cordoned ? `${cordoned} cordoned` : ''].filter(Boolean).join(', ');
  const idle = idleWorkloads(all.values()).reduce((sum, one) => sum + one.gpus, 0);
  return `${countText(all.size, 'node')} with ${gpuText(total)}, ${amountText(free)} free${isMeasured(all.values()) ? `, ${amountText(idle)} idle` : ''}${trouble ? `; ${trouble}` : ''}.`;
}

export default function Nodes() {
  useLive();
  const all = nodes.value;
  const error = liveError.value;
  const isKnown = all.size > 0 || denied.value.has('nodes') || queues.value.size > 0;
  const by = (GROUPINGS.find(([name]) => name === param('by')) ?? GROUPINGS[0]!)[0];
  useReady(isKnown || error !== null);
  if (denied.value.has('nodes')) return <><Head title="Nodes and GPUs" /><Forbidden what="You have no role that allows nodes to be read." /></>;
  if (!isKnown) return <><Head title="Nodes and GPUs" />{error ? <Trouble status={error.status} message={error.message} /> : <Shapes count={12} />}</>;
  const shown = filtered(all, param('q'));
  const mapped = shown.length === all.size ? all : new Map(shown.map((node) => [node.id, node]));
  const opened = all.get(param('open'));
  return (
    <>
      <Head title="Nodes and GPUs" lead={leadOf(all)} />
      <div class="nodes-page">
        <Panel id="map" title="GPUs" note="coloured by queue" tools={<><Segments label="Group by" choices={GROUPINGS.map(([name, text]) => ({ text, where: here({ by: name === 'rack' ? '' : name }), isOn: name === by }))} /><FilterBox label="Filter nodes" placeholder="free h100" /></>}>
          {all.size === 0 && (
            <Empty title="No nodes yet" text="Nodes appear here when they join. On Kubernetes they show their GPUs once the GPU operator has labelled them.">
              <pre><code>muster up --fake-nodes 4x8xH100</code></pre>
            </Empty>
          )}
          {all.size > 0 && shown.length === 0 && <NoMatch />}
          {shown.length > 0 && <div class="map-box"><GpuMap nodes={mapped} colourOf={colourOf} grouping={by} height={420} onOpen={open} /><MapKey nodes={mapped} queues={queues.value} /></div>}
        </Panel>
        <HolesPanel />
      </div>
      {shown.length > 0 && (
        <section class="panel window nodes" aria-label="Nodes" onClick={(event) => { const target = event.target as HTMLElement; if (!target.closest('a, button')) target.closest('tr')?.querySelector<HTMLElement>('[data-row]')?.click(); }}>
          <Grid label="Nodes" columns={COLUMNS} count={shown.length} rowAt={(index) => shown[index] ?? null} idOf={(node) => node.id} />
        </section>
      )}
      {param('open') && <NodeDrawer key={param('open')} node={opened ?? null} name={param('open')} />}
    </>
  );
}
