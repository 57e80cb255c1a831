// SPDX-License-Identifier: Apache-2.0

/* Departments and projects with what they own in a node pool. One scale for all bars, so that lengths compare. */
import { readDepartments, readPools, readProjects } from '../../api/lists';
import { may, maySomewhere } from '../../api/session';
import type { ResourceName } from '../../api/types';
import { Chip, LedgerBar } from '../../parts/bars';
import { FilterBox, Segments } from '../../parts/filter';
import { Body, Head, MainLink, Panel } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { isMovingPhase, Phase, RowLink, Table, type Column } from '../../parts/table';
import { here, param } from '../../state/address';
import { useRead } from '../../state/read';
import { amountText } from '../../text/format';
import { ledgerLead, RESOURCE_NAMES, RESOURCES, sumOfQuotas, unitRows, type UnitData, type UnitRow } from './ledger';
import { UnitDrawer } from './unit';

const TITLE = 'Quota';

async function load(): Promise<UnitData> {
  const [departments, projects, pools] = await Promise.all([readDepartments(), readProjects(), readPools()]);
  const named = [...departments, ...projects].flatMap((unit) => unit.resources.map((row) => row.nodePool.name));
  const names = new Set(pools ? pools.filter((pool) => pool.phase !== 'Deleting').map((pool) => pool.name) : named);
  return { departments, projects, pools: ['default', ...[...names].filter((name) => name !== 'default').toSorted()] };
}

function Amount({ value }: { value: number }) {
  const isPlain = Number.isFinite(value) && value !== 0;
  return <span class={isPlain ? undefined : 'zero'}>{value === Infinity ? 'unlimited' : value === 0 ? '–' : amountText(value)}</span>;
}

function Note({ row }: { row: UnitRow }) {
  if (row.isDepartment && row.quota !== Infinity && row.given > row.quota + 1e-9) {
    return <span class="phase warn">{`projects own ${amountText(row.given - row.quota)} more`}</span>;
  }
  return <Phase phase={row.unit.status.phase} message={row.unit.status.phaseMessage} />;
}

/** A department: solid is what its projects own, hollow what is left of its quota, hatched what they own beyond it. */
function UnitBar({ row, scale }: { row: UnitRow; scale: number }) {
  const word = (value: number): string => (value === Infinity ? 'unlimited' : amountText(value));
  const held = row.quota === Infinity ? row.given : Math.min(row.given, row.quota);
  const bar = { held, borrowed: row.given - held, quota: row.quota, limit: row.limit, colour: row.colour };
  return <LedgerBar bar={bar} scale={scale} text={`${row.unit.name}: quota ${word(row.quota)}, limit ${word(row.limit)}`} />;
}

function columns(scale: number): Column<UnitRow>[] {
  return [
    { head: 'Name', isName: true, cell: (row) => <span class="unit"><Chip colour={row.colour} isDepartment={row.isDepartment} /><RowLink name={row.unit.name} id={row.unit.id} /></span> },
    { head: 'Share', hidesHead: true, className: 'bars', cell: (row) => <UnitBar row={row} scale={scale} /> },
    { head: 'Quota', isNumber: true, cell: (row) => <Amount value={row.quota} /> },
    { head: 'Limit', isNumber: true, cell: (row) => <Amount value={row.limit} /> },
    { head: 'Weight', isNumber: true, isWide: true, cell: (row) => <span>{amountText(row.weight)}</span> },
    { head: 'Status', isWide: true, className: 'note', cell: (row) => <Note row={row} /> },
  ];
}

function Foot({ total }: { total: number }) {
  return <tr><th scope="row">All departments</th><td class="bars" /><td class="num">{amountText(total)}</td><td class="num" /><td class="num wide" /><td class="wide" /></tr>;
}

const KEY = [['held', 'owned by projects'], ['lent', 'left to the department'], ['borrowed', 'more than the department owns'], ['quota', 'quota'], ['limit', 'limit']];

function Ledger({ data, pool, resource }: { data: UnitData; pool: string; resource: ResourceName }) {
  const words = param('q');
  const all = unitRows(data, pool, resource, '');
  const rows = words ? unitRows(data, pool, resource, words) : all;
  const scale = Math.max(1e-9, ...all.flatMap((row) => [row.quota, row.given, row.limit]).filter(Number.isFinite));
  const choices = RESOURCE_NAMES.map((id) => ({ text: RESOURCES[id].name, where: here({ show: id === 'gpu' ? '' : id }), isOn: id === resource }));
  const pools = data.pools.map((one) => ({ text: one, where: here({ pool: one === data.pools[0] ? '' : one }), isOn: one === pool }));
  const tools = <>{pools.length > 1 && <Segments label="Node pool" choices={pools} />}<Segments label="Resource" choices={choices} /><FilterBox label="Filter by name" /></>;
  return (
    <Panel id="quota" title="Departments and projects" note={RESOURCES[resource].unit} tools={tools}>
      {rows.length ? (
        <>
          <Table class="ledger" label="Departments and projects" rows={rows} columns={columns(scale)} idOf={(row) => row.unit.id}
            classOfRow={(row) => (row.isDepartment ? 'branch' : 'leaf')} foot={<Foot total={sumOfQuotas(all)} />} />
          <div class="key" aria-hidden="true">{KEY.map(([kind, text]) => <span key={kind}><i class={`ledger-key ${kind}`} />{text}</span>)}</div>
        </>
      ) : words ? <NoMatch /> : <Empty title="No departments yet" text="A department owns GPUs and shares them between its projects. People submit work to projects." />}
    </Panel>
  );
}

export default function Quota() {
  const isMoving = ({ departments, projects }: UnitData): boolean => [...departments, ...projects].some((unit) => isMovingPhase(unit.status.phase));
  const read = useRead('quota', load, { topics: ['org-units', 'node-pools'], isMoving });
  return (
    <Body title={TITLE} read={read}>
      {(data) => {
        const resource = RESOURCE_NAMES.find((id) => id === param('show')) ?? 'gpu';
        const pool = data.pools.includes(param('pool')) ? param('pool') : data.pools[0]!;
        return (
          <>
            <Head title={TITLE} lead={ledgerLead(unitRows(data, pool, resource, ''), pool, resource)}>
              {may('department:create') && <a class="button soft" href={here({ new: 'department', open: '', in: '' })}>New department</a>}
              {maySomewhere('project:create') && data.departments.length > 0 && <MainLink text="New project" where={here({ new: 'project', open: '', in: '' })} />}
            </Head>
            <Ledger data={data} pool={pool} resource={resource} />
            <UnitDrawer data={data} />
          </>
        );
      }}
    </Body>
  );
}
