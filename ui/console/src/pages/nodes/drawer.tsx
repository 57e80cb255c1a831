// SPDX-License-Identifier: Apache-2.0

/* One node: what it has, who holds each of its GPUs, and what can be done to it. */
import { Places } from '../../live/gpus';
import { term } from '../../live/filter';
import { workloadAt, workloadsAt } from '../../live/links';
import type { NodeRow } from '../../live/rows';
import { colourOf } from '../../live/store';
import { gpuText, memoryText, modelText } from '../../live/text';
import { Chip } from '../../parts/bars';
import { Copy } from '../../parts/copy';
import { Drawer } from '../../parts/drawer';
import { nameOf } from '../../parts/gpu-map';
import { StatePill } from '../../parts/state-pill';
import { Facts, Outside } from '../../parts/text';
import { Time } from '../../parts/time';
import { amountText, countText } from '../../text/format';
import { stateOf } from './nodes';

/** Which GPU a pod has is not known for whole ones: the rows keep their order while the drawer is open. */
function Gpus({ node }: { node: NodeRow }) {
  const cells = new Places().cells(node);
  return (
    <table class="list gpus">
      <thead><tr><th scope="col">GPU</th><th scope="col">Held by</th><th scope="col" class="num">Part</th></tr></thead>
      <tbody>
        {cells.map((cell) => (
          <tr key={cell.index}>
            <th scope="row">{cell.index}</th>
            <td>
              {cell.parts.length === 0 && <span class="dim">free</span>}
              {cell.parts.map(({ holder }) => (
                <span key={`${holder.namespace}/${holder.pod}`} class="tenant">
                  <Chip colour={colourOf(holder.queue)} />{holder.workload ? <a href={workloadAt(holder.workload)}><Outside text={nameOf(holder.workload)} /></a> : <Outside text={holder.pod} />} <Outside class="dim" text={holder.queue} />
                </span>
              ))}
            </td>
            <td class="num">{cell.parts.length ? cell.parts.map(({ share, holder }) => <span key={holder.pod} class="tenant">{amountText(share)}{holder.busy === undefined ? '' : `, ${Math.round(holder.busy * 100)}% busy`}</span>) : '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function NodeDrawer({ node, name }: { node: NodeRow | null; name: string }) {
  if (!node) return <Drawer title={name} row={name}><p class="note-line">This node does not exist. It may have left the cluster.</p></Drawer>;
  const free = node.gpus - node.gpusAllocated;
  return (
    <Drawer title={node.name} row={node.id}>
      <p class="pill-line"><StatePill state={stateOf(node)} /><span class="dim">{node.gpus ? `${amountText(free)} of ${gpuText(node.gpus)} free` : 'no GPUs'}</span>{node.reason && <Outside class="dim" text={node.reason} />}</p>
      <p class="actions"><a class="button" href={workloadsAt(term('node', node.name))}>Workloads on this node</a></p>
      <Facts pairs={[
        ['GPU', node.gpus ? `${node.gpus} × ${modelText(node.gpuModel)}, ${memoryText(node.gpuMemory)} each` : 'none'], ['Node pool', node.nodePool || 'default'], ['Rack', node.rack],
        ['CPUs', node.cpusAllocated ? `${node.cpusAllocated} of ${node.cpus} requested` : node.cpus], ['Memory', node.memoryAllocated ? `${memoryText(node.memoryAllocated)} of ${memoryText(node.memory)} requested` : memoryText(node.memory)],
        ['Pods', String(node.pods)], ['Since', <Time at={node.created} />],
      ]} />
      {node.gpus > 0 && <section class="drawer-part"><h3>GPUs</h3><Gpus node={node} /></section>}
      {node.hidden && <p class="foot-note">{`${countText(node.hidden.pods, 'pod')} with ${gpuText(node.hidden.gpus)} belong to projects that you do not see.`}</p>}
      <details class="commands drawer-part"><summary>Commands</summary><Copy text={`${node.isCordoned ? `muster node uncordon ${node.name}` : `muster node cordon ${node.name}`}\nkubectl describe node ${node.name}`} /></details>
    </Drawer>
  );
}
