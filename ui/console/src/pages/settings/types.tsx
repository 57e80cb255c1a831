// SPDX-License-Identifier: Apache-2.0

/* Settings, workload types: the priority and the category that workloads of a type have, unless they say otherwise. */
import { call, get, REST } from '../../api/client';
import { may } from '../../api/session';
import { ActionRow } from '../../parts/action';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { Body, Panel } from '../../parts/page';
import { RowLink, Table, type Column } from '../../parts/table';
import { Facts } from '../../parts/text';
import { param } from '../../state/address';
import { refresh, useRead } from '../../state/read';
import { say } from '../../state/say';
import { timeText } from '../../text/format';
import { SettingsHead, TITLE } from './settings';

interface Type {
  id: string;
  name: string;
  categoryName: string;
  categoryId: string;
  priorityName: string;
  priorityId: string;
  updatedAt: string;
  updatedBy: string;
}
interface Choice { id: string; name: string }
interface Priority extends Choice { value: number }
interface Data { types: Type[]; priorities: Priority[]; categories: Choice[] }

/** What Muster comes with, by the type's name. */
const USUAL: Record<string, [priority: string, category: string]> = { Workspace: ['high', 'Build'], Inference: ['very-high', 'Deploy'] };
const usualOf = (type: Type): [string, string] => USUAL[type.name] ?? ['low', 'Train'];
const PREEMPTED_BELOW = 100;

async function load(): Promise<Data> {
  const [{ types }, { priorities }, { categories }] = await Promise.all([
    get<{ types: Type[] }>(`${REST}/workload-types`), get<{ priorities: Priority[] }>(`${REST}/workload-priorities`), get<{ categories: Choice[] }>(`${REST}/workload-categories`),
  ]);
  return { types, priorities: priorities.toSorted((a, b) => a.value - b.value), categories };
}

const COLUMNS: Column<Type>[] = [
  { head: 'Type', isName: true, cell: (type) => <RowLink name={type.name} id={type.id} /> },
  { head: 'Priority', cell: (type) => type.priorityName },
  { head: 'Category', className: 'fill', cell: (type) => type.categoryName },
  { head: 'Changed by', isWide: true, cell: (type) => (type.updatedBy === 'system' ? '–' : type.updatedBy) },
  { head: 'Changed', isWide: true, isNumber: true, cell: (type) => (type.updatedBy === 'system' ? '–' : timeText(type.updatedAt)) },
];

function TypeDrawer({ types, priorities, categories }: Data) {
  const type = types.find((one) => one.id === param('open'));
  if (!type) return null;
  const mayWrite = may('workload-properties:update');
  const [priority, category] = usualOf(type);
  const send = async (body: { priorityId?: string | undefined; categoryId?: string | undefined }): Promise<void> => {
    await call('PUT', `${REST}/workload-types/${type.id}`, body);
    say(`${type.name} was saved. Workloads that are submitted from now on have it.`);
    leaveDrawer();
    await refresh();
  };
  const reset = (): Promise<void> => send({ priorityId: priorities.find((one) => one.name === priority)?.id, categoryId: categories.find((one) => one.name === category)?.id });
  const priorityName = (one: Priority): string => `${one.name} (${one.value}${one.value < PREEMPTED_BELOW ? ', may be preempted' : ''})`;
  const fields = (
    <>
      <Field path="priorityId" label="Priority" options={priorities.map((one) => [one.id, priorityName(one)])} value={type.priorityId} isReadonly={!mayWrite} hint="Of workloads that name no priority of their own." />
      <Field path="categoryId" label="Category" options={categories.map((one) => [one.id, one.name])} value={type.categoryId} isReadonly={!mayWrite} />
    </>
  );
  return (
    <Drawer key={`${type.id} ${type.updatedAt}`} title={type.name} row={type.id}>
      {mayWrite ? <Form save="Save" send={(values: Values) => send({ priorityId: values.raw('priorityId'), categoryId: values.raw('categoryId') })}>{fields}</Form>
        : <div class="form"><p class="note-line"><Icon name="shield" tone="dim" />You can view this type, but not change it.</p>{fields}</div>}
      <Facts pairs={[['As it came', `priority ${priority}, category ${category}`], ['Changed', type.updatedBy === 'system' ? 'never' : `${timeText(type.updatedAt)} by ${type.updatedBy}`]]} />
      {mayWrite && (type.priorityName !== priority || type.categoryName !== category) && <section class="drawer-part"><ActionRow text="Reset" hint="Back to how it came." act={reset} /></section>}
    </Drawer>
  );
}

export default function Types() {
  const read = useRead('workload-types', load, { topics: ['workloads'] });
  return (
    <Body title={TITLE} read={read}>
      {(data) => (
        <>
          <SettingsHead lead="The priority and the category that workloads of a type have, unless they say otherwise." />
          <Panel id="types" title="Workload types"><Table label="Workload types" rows={data.types} columns={COLUMNS} idOf={(type) => type.id} /></Panel>
          <TypeDrawer {...data} />
        </>
      )}
    </Body>
  );
}
