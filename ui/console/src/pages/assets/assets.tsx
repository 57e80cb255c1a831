// SPDX-License-Identifier: Apache-2.0

/* Assets: images, sizes, data and credentials that are saved once and picked by name, by groups of kinds. */
import { get, REST } from '../../api/client';
import { readUnits, scopeKey, scopesFor, scopeText } from '../../api/scopes';
import { maySomewhere } from '../../api/session';
import { FilterBox } from '../../parts/filter';
import { findPage, isAllowed } from '../../frame/pages';
import { Body, Head, MainLink, Panel } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { isMovingPhase, Phase, RowLink, Table, type Column } from '../../parts/table';
import { Tabs } from '../../parts/tabs';
import { address, here, param } from '../../state/address';
import { useRead } from '../../state/read';
import { countText, matches } from '../../text/format';
import { AssetDrawer, phaseOf, specOf, type Asset, type AssetData } from './asset';
import { GROUPS, type AssetGroup } from './kinds';

const TITLE = 'Assets';

type List = { entries: Asset[] };

async function load(group: AssetGroup): Promise<AssetData> {
  const read = (path: string): Promise<List> => get<List>(`${REST}/asset/${path}?usageInfo=true&statusInfo=true`);
  const needsCredentials = group.kinds.some((kind) => kind.credential) && maySomewhere('credentials:read');
  const [{ entries }, units, credentials] = await Promise.all([read(group.list), readUnits(), needsCredentials ? get<List>(`${REST}/asset/credentials`) : null]);
  return { assets: entries.toSorted((a, b) => a.meta.name.localeCompare(b.meta.name)), units, credentials: credentials?.entries ?? [] };
}

function columns(group: AssetGroup, { units }: AssetData): Column<Asset>[] {
  const kindOf = (asset: Asset) => group.kinds.find((one) => one.kind === asset.meta.kind);
  const rows: Column<Asset>[] = [
    { head: 'Name', isName: true, cell: ({ meta }) => <RowLink name={meta.name} id={meta.id}>{meta.private && <small>private</small>}</RowLink> },
    { head: 'Holds', className: 'fill', cell: (asset) => kindOf(asset)?.summary(specOf(group, asset)) || '–' },
    { head: 'For', isWide: true, cell: ({ meta }) => scopeText(scopeKey(meta), units) },
    { head: 'Used by', isWide: true, cell: ({ usedBy }) => (usedBy?.templates.length ? countText(usedBy.templates.length, 'template') : '–') },
  ];
  if (group.kinds.length > 1) rows.splice(1, 0, { head: 'Kind', isWide: true, cell: (asset) => kindOf(asset)?.name ?? asset.meta.kind });
  if (['datasource', 'credentials'].includes(group.list)) {
    rows.push({ head: 'In the cluster', className: 'note', cell: (asset) => (['', 'No status'].includes(phaseOf(asset)) ? '–' : <Phase phase={phaseOf(asset)} message={asset.status?.message ?? ''} />) });
  }
  return rows;
}

export default function Assets() {
  const group = GROUPS.find((one) => one.path === address.value.path) ?? GROUPS[0]!;
  const read = useRead(group.path, () => load(group), { topics: ['assets', 'org-units'], isMoving: ({ assets }) => assets.some((asset) => isMovingPhase(phaseOf(asset))) });
  return (
    <Body title={TITLE} read={read}>
      {(data) => {
        const rows = data.assets.filter(({ meta }) => matches(param('q'), meta.name, meta.description, scopeText(scopeKey(meta), data.units)));
        const mayMake = group.kinds.some((kind) => scopesFor(`${kind.permission}:create`, data.units).length);
        return (
          <>
            <Head title={TITLE} lead={`${countText(data.assets.length, group.one, group.title.toLowerCase())}. ${group.lead}`}>
              {mayMake && <MainLink text={`New ${group.one}`} where={here({ new: 'asset', open: '' })} />}
            </Head>
            <Tabs label="Kinds of assets" tabs={GROUPS.filter((one) => isAllowed(findPage(one.path)!)).map((one) => ({ text: one.title, where: one.path, isHere: one === group }))} />
            <Panel id="assets" title={group.title} tools={<FilterBox label="Filter by name or scope" />}>
              {!data.assets.length ? <Empty title={`No ${group.title.toLowerCase()} yet`} text={group.empty} />
                : rows.length ? <Table label={group.title} rows={rows} columns={columns(group, data)} idOf={({ meta }) => meta.id} /> : <NoMatch />}
            </Panel>
            <AssetDrawer key={group.path} group={group} data={data} />
          </>
        );
      }}
    </Body>
  );
}
