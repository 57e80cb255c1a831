// SPDX-License-Identifier: Apache-2.0

/* Templates of workloads: specs with a name, which fill in what a submission leaves out. */
import { get, REST } from '../../api/client';
import { readUnits, scopeText, type Units } from '../../api/scopes';
import { maySomewhere } from '../../api/session';
import { FilterBox } from '../../parts/filter';
import { Body, Head, MainLink, Panel } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { RowLink, Table, type Column } from '../../parts/table';
import { here, param, to } from '../../state/address';
import { useRead } from '../../state/read';
import { countText, matches, timeText } from '../../text/format';
import { KINDS, keyOf, TemplateDrawer, type Template } from './template';

const TITLE = 'Templates';
const PAGE_SIZE = 500;

interface Data {
  templates: Template[];
  units: Units;
}

async function readTemplates(): Promise<Template[]> {
  const templates: Template[] = [];
  for (;;) {
    const { entries } = await get<{ entries: Template[] }>(`${REST}/workload-templates?limit=${PAGE_SIZE}&offset=${templates.length}`);
    templates.push(...entries);
    if (entries.length < PAGE_SIZE) return templates;
  }
}

async function load(): Promise<Data> {
  const [templates, units] = await Promise.all([readTemplates(), readUnits()]);
  return { templates: templates.toSorted((a, b) => a.meta.name.localeCompare(b.meta.name)), units };
}

function columns(units: Units): Column<Template>[] {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '–');
  return [
    { head: 'Name', isName: true, cell: ({ meta }) => <RowLink name={meta.name} id={meta.id} /> },
    { head: 'Type', cell: ({ meta }) => KINDS.find((kind) => kind.type === meta.workloadType)?.name ?? meta.workloadType },
    { head: 'Image', className: 'fill', isWide: true, cell: ({ spec }) => text(spec.image) },
    { head: 'For', isWide: true, cell: ({ meta }) => scopeText(keyOf(meta), units) },
    { head: 'Created by', isWide: true, cell: ({ meta }) => meta.createdBy },
    { head: 'Created', isWide: true, isNumber: true, cell: ({ meta }) => timeText(meta.createdAt) },
    {
      head: 'Use', hidesHead: true, className: 'note',
      cell: ({ meta }) => (['Workspace', 'Training'].includes(meta.workloadType) && maySomewhere('workloads:create')
        ? <a href={to('/submit', { template: meta.id, kind: meta.workloadType === 'Workspace' ? 'workspace' : '' })}>Submit from it</a> : ''),
    },
  ];
}

export default function Templates() {
  const read = useRead('templates', load, { topics: ['assets', 'org-units'] });
  return (
    <Body title={TITLE} read={read}>
      {({ templates, units }) => {
        const rows = templates.filter(({ meta }) => matches(param('q'), meta.name, meta.description, meta.workloadType, scopeText(keyOf(meta), units)));
        return (
          <>
            <Head title={TITLE} lead={`${countText(templates.length, 'template')}. A submission from a template has what it does not say itself.`}>
              {maySomewhere('templates:create') && <MainLink text="New template" where={here({ new: 'template', open: '' })} />}
            </Head>
            <Panel id="templates" title="Templates" tools={<FilterBox label="Filter by name, type or scope" />}>
              {!templates.length ? <Empty title="No templates yet" text="Save an image, its command and its size once. Whoever submits from the template changes only what is different." />
                : rows.length ? <Table label="Templates" rows={rows} columns={columns(units)} idOf={({ meta }) => meta.id} /> : <NoMatch />}
            </Panel>
            <TemplateDrawer templates={templates} units={units} />
          </>
        );
      }}
    </Body>
  );
}
