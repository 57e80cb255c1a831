// SPDX-License-Identifier: Apache-2.0

/* What a workload asks for: as the cluster has it, and as it was submitted here. */
import { get, REST } from '../../api/client';
import { findSubmitted } from '../../live/intents';
import type { WorkloadRow } from '../../live/rows';
import { gpuText } from '../../live/text';
import type { PodRow } from '../../live/why';
import { Copy } from '../../parts/copy';
import { Facts, type Fact } from '../../parts/text';
import { Time } from '../../parts/time';
import { useRead } from '../../state/read';
import { amountText } from '../../text/format';
import { shellWord } from '../../text/shell';

/** The paths of the types that can be submitted here. */
const PATHS: Record<string, string> = { Training: 'trainings', Workspace: 'workspaces', Distributed: 'distributed', Inference: 'inferences' };

interface Kept {
  name: string;
  projectId: string;
  clusterId: string;
  spec: unknown;
  masterSpecSameAsWorker?: boolean;
}

interface Found { path: string; kept: Kept }

/** The request that would submit it again; null for what was submitted past the console. */
async function readSubmitted(row: WorkloadRow): Promise<Found | null> {
  const found = await findSubmitted(row);
  const path = found && PATHS[found.type];
  return path ? { path, kept: await get<Kept>(`${REST}/workloads/${path}/${found.id}`) } : null;
}

function bodyOf({ name, projectId, clusterId, spec, masterSpecSameAsWorker }: Kept): string {
  return JSON.stringify({ name, projectId, clusterId, ...(masterSpecSameAsWorker === undefined ? {} : { masterSpecSameAsWorker }), spec }, null, 2);
}

function Submitted({ row }: { row: WorkloadRow }) {
  const read = useRead(`spec ${row.id}`, () => readSubmitted(row), { topics: ['workloads'], gather: 1000 });
  if (!read.data) return null;
  const { path, kept } = read.data;
  const request = `curl -s ${location.origin}${REST}/workloads/${path} -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d ${shellWord(bodyOf(kept))}`;
  return (
    <>
      <h3>As it was submitted<small>with the defaults of the policy</small></h3>
      <Copy text={JSON.stringify(kept.spec, null, 2)} />
      <details class="commands"><summary>As a request</summary><Copy text={request} /></details>
    </>
  );
}

export function Spec({ row, pods }: { row: WorkloadRow; pods: PodRow[] }) {
  const each = row.pods.total > 1 && row.gpus ? `, ${row.pods.total} pods of ${gpuText(row.gpus / row.pods.total)}` : '';
  const facts: Fact[] = [
    ['Kind', `${row.kind} (${row.apiVersion})`], ['Namespace', row.namespace], ['Queue', row.queue || '–'], ['Owner', row.user],
    ['GPUs', row.gpus ? `${amountText(row.gpus)}${each}` : row.gpuMemory], ['Pods', `${row.pods.total}, ${row.pods.running} running`],
    ['Priority', row.priorityClassName], ['Submitted', row.created && <Time at={row.created} />], ['Started', row.started && <Time at={row.started} />],
    ['Finished', row.finished && <Time at={row.finished} />], ['Exit code', row.exitCode === undefined ? '' : String(row.exitCode)], ['Number', row.jobId],
  ];
  return (
    <>
      <Facts pairs={facts} />
      <Submitted row={row} />
      <h3>As the cluster has it</h3>
      <Copy text={`kubectl get ${shellWord(row.kind.toLowerCase())} -n ${shellWord(row.namespace)} ${shellWord(row.name)} -o yaml\nmuster describe -n ${shellWord(row.namespace)} ${shellWord(row.name)}`} />
      {pods.length === 0 && <p class="foot-note">Its controller has not created its pods yet.</p>}
    </>
  );
}
