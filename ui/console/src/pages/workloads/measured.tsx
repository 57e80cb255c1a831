// SPDX-License-Identifier: Apache-2.0

/* What is measured about a workload: when it may start, how busy its GPUs are, what it writes. Where nothing measures it, that is said. */
import { get, OURS } from '../../api/client';
import { isMeasured } from '../../live/idle';
import type { WorkloadRow } from '../../live/rows';
import { nodes } from '../../live/store';
import { gpuText } from '../../live/text';
import type { PodRow } from '../../live/why';
import { Copy } from '../../parts/copy';
import { Outside } from '../../parts/text';
import { to } from '../../state/address';
import { useRead } from '../../state/read';
import { plain } from '../../text/plain';
import { shellWord } from '../../text/shell';

const HOUR = 3_600_000;
const PODS_MAX = 20;

/** When it starts. That takes the history of the cluster; the server says so where it has none. */
export function When({ outlook }: { outlook: string }) {
  const read = useRead('when', () => get<unknown>(`${OURS}/when`), { topics: [], each: HOUR });
  return (
    <section class="drawer-part" aria-labelledby="when-title">
      <h3 id="when-title">When</h3>
      {outlook === 'never' ? <p>Not as things are.</p> : <p class="dim">{read.error ? `Muster cannot tell yet: ${plain(read.error.message)}.` : 'Muster cannot tell yet.'}</p>}
    </section>
  );
}

interface Use { pod: string; node: string; gpus: number; busy: number | undefined }

function usesOf(row: WorkloadRow): Use[] {
  const found: Use[] = [];
  for (const node of nodes.value.values()) {
    for (const holder of node.holders) if (holder.workload === row.id) found.push({ pod: holder.pod, node: node.name, gpus: holder.gpus, busy: holder.busy });
  }
  return found.toSorted((a, b) => a.pod.localeCompare(b.pod, 'en', { numeric: true }));
}

function Busy({ busy }: { busy: number | undefined }) {
  if (busy === undefined) return <span class="dim">not measured</span>;
  const percent = `${Math.round(busy * 100)} %`;
  return <span class="busy"><span class="lane" aria-hidden="true"><i style={{ width: percent }} /></span><span class="num">{percent}</span></span>;
}

/** The GPUs of this workload alone, and how busy they are now. */
export function Metrics({ row }: { row: WorkloadRow }) {
  const uses = usesOf(row);
  if (!uses.length) return <p class="dim">{row.gpus ? 'It has no GPUs now.' : 'It asks for no GPUs.'}</p>;
  return (
    <>
      {!isMeasured(nodes.value.values()) && <p class="note-line">Muster cannot tell yet: nothing in this cluster reports how busy GPUs are. What is allocated is known.</p>}
      <table class="list">
        <thead><tr><th scope="col">Pod</th><th scope="col">Node</th><th scope="col" class="num">GPUs</th><th scope="col">Busy now</th></tr></thead>
        <tbody>
          {uses.map((use) => (
            <tr key={`${use.pod} ${use.node}`}>
              <th scope="row"><Outside text={use.pod} /></th><td><a href={to('/nodes', { open: use.node })}><Outside text={use.node} /></a></td>
              <td class="num">{gpuText(use.gpus)}</td><td><Busy busy={use.busy} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function commandsOf(row: WorkloadRow, pods: PodRow[]): string {
  const namespace = `-n ${shellWord(row.namespace)}`;
  const first = [`muster logs ${namespace} ${shellWord(row.name)}`];
  return [...first, ...pods.slice(0, PODS_MAX).map((pod) => `kubectl logs -f ${namespace} ${shellWord(pod.name)}`)].join('\n');
}

/** The console's REST has no logs; the cluster has. */
export function Logs({ row, pods }: { row: WorkloadRow; pods: PodRow[] }) {
  const failed = pods.filter((pod) => pod.phase === 'Failed');
  return (
    <>
      <p class="note-line">Muster cannot show logs here yet. These commands print them.</p>
      <Copy text={commandsOf(row, pods)} />
      {pods.length === 0 && <p class="dim">It has no pods now: what they wrote is gone with them.</p>}
      {failed.length > 0 && (
        <>
          <h3>Pods that have failed</h3>
          <ul class="sentences">{failed.slice(0, PODS_MAX).map((pod) => <li key={pod.name}><b><Outside text={pod.name} /></b>{' '}<Outside text={pod.message || pod.reason || pod.phase} /></li>)}</ul>
        </>
      )}
    </>
  );
}
