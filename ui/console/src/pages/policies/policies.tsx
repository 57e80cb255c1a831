// SPDX-License-Identifier: Apache-2.0

/* Policies: defaults and rules for workloads, by type and scope, and what holds in a scope. */
import { get, REST2 } from '../../api/client';
import { readUnits, scopeKey, scopesFor, scopeText, type Units } from '../../api/scopes';
import { maySomewhere } from '../../api/session';
import type { Meta } from '../../api/types';
import { FilterBox } from '../../parts/filter';
import { Body, Head, MainLink, Panel } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { RowLink, Table, type Column } from '../../parts/table';
import { Tabs } from '../../parts/tabs';
import { address, go, here, param } from '../../state/address';
import { useRead } from '../../state/read';
import { countText, matches, timeText } from '../../text/format';
import { plain } from '../../text/plain';
import { flatten } from './flat';
import { PolicyDrawer, readPolicy, type Kept, type Kind } from './policy';
import { RuleTable } from './rows';

const TITLE = 'Policies';

const KINDS: Kind[] = [
  { type: 'workspace', path: 'workspaces', title: 'Workspaces' }, { type: 'training', path: 'trainings', title: 'Trainings' },
  { type: 'distributed', path: 'distributed', title: 'Distributed trainings' }, { type: 'inference', path: 'inferences', title: 'Inferences' },
];

interface Data {
  metas: Meta[];
  units: Units;
  /** What holds in the chosen scope. */
  held: Kept | null;
}

async function load(kind: Kind, shown: string): Promise<Data> {
  const [{ policies }, units] = await Promise.all([get<{ policies: { meta: Meta }[] }>(`${REST2}/policy?workloadType=${kind.type}`), readUnits()]);
  return { metas: policies.map((row) => row.meta), units, held: await readPolicy(kind, shown) };
}

function columns(units: Units): Column<Meta>[] {
  return [
    { head: 'Name', isName: true, cell: (meta) => <RowLink name={meta.name} id={scopeKey(meta)} /> },
    { head: 'For', className: 'fill', cell: (meta) => scopeText(scopeKey(meta), units) },
    { head: 'Changed by', isWide: true, cell: (meta) => meta.updatedBy },
    { head: 'Changed', isWide: true, isNumber: true, cell: (meta) => timeText(meta.updatedAt) },
  ];
}

function List({ kind, metas, units }: { kind: Kind; metas: Meta[]; units: Units }) {
  const rows = metas.filter((meta) => matches(param('q'), meta.name, scopeText(scopeKey(meta), units))).toSorted((a, b) => a.name.localeCompare(b.name));
  const mayMake = maySomewhere('policies:update');
  return (
    <Panel id="policies" title={`Policies of ${kind.title.toLowerCase()}`} tools={<FilterBox label="Filter by name or scope" />}>
      {!metas.length ? (
        <Empty title="No policy yet" text="What quotas allow is allowed. A policy has defaults for the members of a workload that its owner leaves out, and rules for all of them.">
          {mayMake && <a class="button" href={here({ new: 'policy', example: 1, open: '' })}>Start from an example</a>}
        </Empty>
      ) : rows.length ? <Table label="Policies" rows={rows} columns={columns(units)} idOf={scopeKey} /> : <NoMatch />}
    </Panel>
  );
}

/** What holds in one scope by all policies above it, and who has said so. */
function Held({ kind, held, units }: { kind: Kind; held: Kept | null; units: Units }) {
  const shown = param('for') || 'tenant';
  const scopes = scopesFor('policies:read', units);
  const options = scopes.some(([key]) => key === shown) ? scopes : [[shown, scopeText(shown, units)] as [string, string], ...scopes];
  const rules = flatten(held?.effective ?? {});
  const choose = (
    <select aria-label="Scope" onChange={(event) => go(here({ for: event.currentTarget.value === 'tenant' ? '' : event.currentTarget.value }), true)}>
      {options.map(([key, text]) => <option key={key} value={key} selected={key === shown}>{plain(text)}</option>)}
    </select>
  );
  return (
    <Panel id="held" title="What holds" note={`for new ${kind.title.toLowerCase()}`} tools={choose}>
      {rules.length ? <RuleTable label="What holds" rules={rules} units={units} />
        : <p class="empty">No policy here or above: what quotas allow is allowed.</p>}
    </Panel>
  );
}

export default function Policies() {
  const kind = KINDS.find((one) => address.value.path.endsWith(`/${one.path}`)) ?? KINDS[0]!;
  const shown = param('for') || 'tenant';
  const read = useRead(`policies ${kind.type} ${shown}`, () => load(kind, shown), { topics: ['policies', 'org-units'] });
  return (
    <Body title={TITLE} read={read}>
      {({ metas, units, held }) => (
        <>
          <Head title={TITLE} lead={`${countText(metas.length, 'policy', 'policies')} of ${kind.title.toLowerCase()}. A policy holds in its scope and in everything below; workloads that break a rule are refused.`}>
            {maySomewhere('policies:update') && <MainLink text="New policy" where={here({ new: 'policy', open: '', example: '' })} />}
          </Head>
          <Tabs label="Types of workloads" tabs={KINDS.map((one) => ({ text: one.title, where: `/policies/${one.path}`, isHere: one === kind }))} />
          <div class="columns">
            <List kind={kind} metas={metas} units={units} />
            <Held kind={kind} held={held} units={units} />
          </div>
          <PolicyDrawer key={kind.type} kind={kind} units={units} metas={metas} />
        </>
      )}
    </Body>
  );
}
