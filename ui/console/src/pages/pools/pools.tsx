// SPDX-License-Identifier: Apache-2.0

/* Node pools: parts of the nodes, each with a scheduler, settings and quotas of its own. */
import { get, REST } from '../../api/client';
import { may } from '../../api/session';
import type { NodePool } from '../../api/types';
import { FilterBox } from '../../parts/filter';
import { Body, Head, MainLink, Panel } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { isMovingPhase, Phase, RowLink, Table, type Column } from '../../parts/table';
import { here, param } from '../../state/address';
import { useRead } from '../../state/read';
import { countText, matches } from '../../text/format';
import { plain } from '../../text/plain';
import { PoolDrawer, runtimeOf } from './pool';

const TITLE = 'Node pools';
const STRATEGY_NAMES = { binpack: 'pack', spread: 'spread' };

async function load(): Promise<NodePool[]> {
  const { nodepools } = await get<{ nodepools: NodePool[] }>(`${REST}/node-pools?limit=500`);
  return nodepools.toSorted((a, b) => Number(b.isDefault) - Number(a.isDefault) || a.name.localeCompare(b.name));
}

const COLUMNS: Column<NodePool>[] = [
  { head: 'Name', isName: true, cell: (pool) => <RowLink name={pool.name} id={pool.id} /> },
  {
    head: 'Nodes with the label', className: 'fill', isWide: true,
    cell: (pool) => (pool.isDefault ? <span class="dim">nodes in no other pool</span> : <code>{plain(`${pool.labelKey}=${pool.labelValue}`)}</code>),
  },
  { head: 'Nodes', isNumber: true, cell: (pool) => (pool.isDefault ? '–' : String(pool.status.nodes.length)) },
  { head: 'GPUs', isWide: true, cell: (pool) => STRATEGY_NAMES[pool.placementStrategy.gpu] },
  { head: 'CPUs', isWide: true, cell: (pool) => STRATEGY_NAMES[pool.placementStrategy.cpu] },
  { head: 'Guaranteed run time', isWide: true, cell: (pool) => runtimeOf(pool) || '–' },
  { head: 'Status', className: 'note', cell: (pool) => <Phase phase={pool.phase} message={pool.phaseMessage} /> },
];

function List({ pools }: { pools: NodePool[] }) {
  const rows = pools.filter((pool) => matches(param('q'), pool.name, pool.labelKey, pool.labelValue));
  return (
    <Panel id="pools" title="Node pools" tools={<FilterBox label="Filter by name or label" />}>
      {rows.length ? <Table label="Node pools" rows={rows} columns={COLUMNS} idOf={(pool) => pool.id} /> : <NoMatch />}
      {rows.length > 0 && pools.length === 1 && (
        <Empty title="One pool for all nodes" text="Give nodes of one kind a label, such as their GPU type, and a pool of their own: it has a placement strategy, a guaranteed run time, and quotas of its own." />
      )}
    </Panel>
  );
}

export default function Pools() {
  const read = useRead('pools', load, { topics: ['node-pools'], isMoving: (pools) => pools.some((pool) => isMovingPhase(pool.phase)) });
  return (
    <Body title={TITLE} read={read}>
      {(pools) => {
        const nodes = pools.reduce((sum, pool) => sum + pool.status.nodes.length, 0);
        const lead = `${countText(pools.length, 'node pool')}${nodes ? ` with ${countText(nodes, 'node')} by label` : ''}. A node that is in no other pool is in the pool default.`;
        return (
          <>
            <Head title={TITLE} lead={lead}>{may('nodepools:create') && <MainLink text="New node pool" where={here({ new: 'pool', open: '' })} />}</Head>
            <List pools={pools} />
            <PoolDrawer pools={pools} />
          </>
        );
      }}
    </Body>
  );
}
