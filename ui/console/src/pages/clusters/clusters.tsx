// SPDX-License-Identifier: Apache-2.0

/* Clusters: whether the console hears from each, and what it has. */
import { get, OURS, REST } from '../../api/client';
import { may, maySomewhere } from '../../api/session';
import { readPools } from '../../api/lists';
import { countOf, type SummaryRow } from '../../live/rows';
import { Copy } from '../../parts/copy';
import { Body, Head } from '../../parts/page';
import { Mark } from '../../parts/table';
import { Facts } from '../../parts/text';
import { Time } from '../../parts/time';
import { useRead } from '../../state/read';
import { amountText, clockText, countText, numberText } from '../../text/format';
import { plain } from '../../text/plain';
import './clusters.css';

const TITLE = 'Clusters';

interface Cluster { uuid: string; name: string; createdAt: string; status: { state: string } }

interface Data {
  clusters: Cluster[];
  /** Null where one may not see them, or the cluster has not told yet. */
  summary: SummaryRow | null;
  time: string;
  pools: number | null;
}

async function load(): Promise<Data> {
  const mayLook = maySomewhere('dashboards-overview:read');
  const clusters = await get<Cluster[]>(`${REST}/clusters`);
  const isHeard = clusters.some((one) => one.status.state === 'Connected');
  const [state, pools] = await Promise.all([mayLook && isHeard ? get<{ time: string; summary: SummaryRow[] }>(`${OURS}/state?parts=summary`) : null, readPools()]);
  return { clusters, summary: state?.summary[0] ?? null, time: state?.time ?? '', pools: pools?.length ?? null };
}

function Numbers({ summary }: { summary: SummaryRow }) {
  const { gpus } = summary;
  const cells: [string, string, string?][] = [
    ['GPUs', numberText(gpus.total), '/nodes'], ['Allocated', amountText(gpus.allocated), '/nodes'], ['Free', amountText(gpus.free), '/nodes'],
    ['Running', numberText(countOf(summary, 'Running')), '/workloads?q=state%3ARunning'],
    ['Pending', numberText(countOf(summary, 'Pending') + countOf(summary, 'Preempting')), '/workloads?q=state%3APending%2CPreempting'],
  ];
  return <dl class="numbers">{cells.map(([name, value, where]) => <div key={name}><dt>{name}</dt><dd>{where ? <a href={where}>{value}</a> : value}</dd></div>)}</dl>;
}

function Card({ cluster, data: { summary, time, pools } }: { cluster: Cluster; data: Data }) {
  const isHeard = cluster.status.state === 'Connected';
  return (
    <section class="panel cluster" aria-labelledby={`cluster-${cluster.uuid}`}>
      <header><h2 id={`cluster-${cluster.uuid}`}>{plain(cluster.name)}</h2><span class="grow" /><Mark icon={isHeard ? 'disc' : 'triangle'} tone={isHeard ? 'good' : 'warn'} text={isHeard ? 'connected' : 'no contact'} /></header>
      {!isHeard && <p class="note-line warn">The console does not hear from its API server. Changes are kept, and written when it answers again.</p>}
      {summary && <Numbers summary={summary} />}
      <Facts pairs={[
        ['Identifier', <code>{plain(cluster.uuid)}</code>], ['Known since', <Time at={cluster.createdAt} />], ['Last word', time && clockText(new Date(time))],
        ['Node pools', pools === null ? '' : <a href="/pools">{countText(pools, 'node pool')}</a>],
      ]} />
    </section>
  );
}

export default function Clusters() {
  const read = useRead('clusters', load, { topics: ['node-pools'], each: 5000 });
  return (
    <Body title={TITLE} read={read}>
      {(data) => (
        <>
          <Head title={TITLE} lead={`${countText(data.clusters.length, 'cluster')}. A console follows the cluster of its kubeconfig.`} />
          <div class="cards">{data.clusters.map((cluster) => <Card key={cluster.uuid} cluster={cluster} data={data} />)}</div>
          {may('cluster:update') && (
            <section class="panel another" aria-labelledby="another-title">
              <h2 id="another-title">Another cluster</h2>
              <p class="dim">Start a console with the kubeconfig of the other cluster, and a database of its own.</p>
              <Copy text="muster console --kubeconfig OTHER --database other.db --cluster-name other --listen 127.0.0.1:8444" />
            </section>
          )}
        </>
      )}
    </Body>
  );
}
