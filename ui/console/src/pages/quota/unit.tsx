// SPDX-License-Identifier: Apache-2.0

/* One department or project in the drawer: what it is, its quotas in each node pool, and how it ends. */
import { call, REST } from '../../api/client';
import { may, me, type Place } from '../../api/session';
import type { Unit } from '../../api/types';
import { askFirst } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { Phase } from '../../parts/table';
import { Facts } from '../../parts/text';
import { here, param } from '../../state/address';
import { refresh } from '../../state/read';
import { say } from '../../state/say';
import { countText, listText, timeText } from '../../text/format';
import { plain } from '../../text/plain';
import type { UnitData } from './ledger';
import { PoolFields, readShares } from './shares';

type Kind = 'department' | 'project';

const LISTS: Record<Kind, string> = { department: 'departments', project: 'projects' };

function placeOf(kind: Kind, unit: Unit): Place {
  return kind === 'department' ? { department: unit.id } : { department: unit.parentId, project: unit.id };
}

async function close(text: string): Promise<void> {
  say(text);
  leaveDrawer();
  await refresh();
}

function NewUnit({ kind, data: { departments, pools } }: { kind: Kind; data: UnitData }) {
  const isProject = kind === 'project';
  const open = departments.filter((one) => one.status.phase !== 'Deleting' && may('project:create', { department: one.id }));
  const inside = param('in') || (open.find((one) => one.name !== 'default') ?? open[0])?.id;
  const send = (values: Values): Promise<Unit> => call('POST', `${REST}/org-unit/${LISTS[kind]}`, {
    name: values.text('name'), clusterId: me.value!.clusterId, description: values.raw('description'), resources: readShares(values, pools),
    ...(isProject ? { parentId: values.raw('parentId') } : {}),
    ...(values.text('requestedNamespace') ? { requestedNamespace: values.text('requestedNamespace') } : {}),
  });
  return (
    <Drawer key={`new ${kind}`} title={isProject ? 'New project' : 'New department'}>
      <Form save={isProject ? 'Create the project' : 'Create the department'} send={send} done={(unit) => close(`${unit.name} was created.`)}>
        <Field path="name" label="Name" hint={`Lower-case letters, digits and "-". It is the name of the ${isProject ? "project's" : "department's"} Queue.`} isRequired />
        {isProject && <Field path="parentId" label="Department" options={open.map((one) => [one.id, one.name])} value={inside} />}
        <Field path="description" label="Description" />
        {isProject && <Field path="requestedNamespace" label="Namespace" placeholder="runai-NAME" />}
        <h3>Quota</h3>
        <p class="hint">The quota is guaranteed. Up to the limit, work may use what others leave idle, by weight.</p>
        <PoolFields unit={null} pools={pools} shown={param('pool') || pools[0]!} isReadonly={false} />
      </Form>
    </Drawer>
  );
}

function askToDelete(kind: Kind, unit: Unit, data: UnitData): void {
  const children = data.projects.filter((project) => project.parentId === unit.id);
  const name = plain(unit.name);
  const hasChildren = `It has ${countText(children.length, 'project')}: ${listText(children.map((one) => plain(one.name)))}. Delete them first.`;
  askFirst({
    title: `Delete ${name}?`,
    text: kind === 'project' ? `The namespace ${unit.status.namespace} and its workloads stay, without a Queue. This cannot be undone. It deletes:`
      : children.length ? hasChildren : 'This cannot be undone. It deletes:',
    facts: children.length ? [] : [
      `the ${kind} and its ${data.pools.length === 1 ? 'Queue' : 'Queues in all node pools'}`,
      'its assets, with their Secrets and volume claims',
      'the access rules of its scope',
    ],
    save: `Delete ${name}`,
    act: async () => {
      await call('DELETE', `${REST}/org-unit/${LISTS[kind]}/${unit.id}`);
      await close(`${unit.name} is being deleted.`);
    },
  });
}

function UnitForm({ kind, unit, data }: { kind: Kind; unit: Unit; data: UnitData }) {
  const isEnding = unit.status.phase === 'Deleting';
  const mayWrite = may(`${kind}:update`, placeOf(kind, unit)) && !isEnding;
  const mayDelete = may(`${kind}:delete`, placeOf(kind, unit)) && !isEnding && !(kind === 'department' && unit.name === 'default');
  const pools = unit.resources.map((row) => row.nodePool.name);
  const fields = (
    <>
      <Field path="description" label="Description" value={unit.description} isReadonly={!mayWrite} />
      <PoolFields unit={unit} pools={pools} shown={param('pool') || pools[0] || ''} isReadonly={!mayWrite} />
    </>
  );
  if (!mayWrite) {
    const text = isEnding ? 'It is being deleted.' : `You can view ${plain(unit.name)}, but not change it.`;
    return <div class="form"><p class="note-line"><Icon name="shield" tone="dim" />{text}</p>{fields}</div>;
  }
  const send = (values: Values): Promise<unknown> => call('PUT', `${REST}/org-unit/${LISTS[kind]}/${unit.id}`, { description: values.raw('description'), resources: readShares(values, pools) });
  const more = mayDelete && <><span class="grow" /><button type="button" class="button quiet bad" onClick={() => askToDelete(kind, unit, data)}>Delete</button></>;
  return <Form save="Save" send={send} done={() => close(`${unit.name} was saved.`)} more={more}>{fields}</Form>;
}

function UnitFacts({ kind, unit, data }: { kind: Kind; unit: Unit; data: UnitData }) {
  const { phase, phaseMessage, namespace } = unit.status;
  const children = data.projects.filter((project) => project.parentId === unit.id).length;
  return (
    <Facts pairs={[
      ['Status', <Phase phase={phase} message={phaseMessage} />],
      ['Problem', phaseMessage],
      ['Department', unit.parent?.name],
      ['Projects', kind === 'department' ? String(children) : ''],
      ['Namespace', namespace ? <code>{plain(namespace)}</code> : ''],
      ['Created', `${timeText(unit.createdAt)} by ${unit.createdBy}`],
      ['Changed', `${timeText(unit.updatedAt)} by ${unit.updatedBy || unit.createdBy}`],
    ]} />
  );
}

/** What the address names, if it names something. */
export function UnitDrawer({ data }: { data: UnitData }) {
  const made = param('new');
  if (made === 'department' || made === 'project') return <NewUnit kind={made} data={data} />;
  const id = param('open');
  if (!id) return null;
  const department = data.departments.find((one) => one.id === id);
  const unit = department ?? data.projects.find((one) => one.id === id);
  if (!unit) {
    return <Drawer key="gone" title="Not here"><p class="dim">This department or project does not exist, or you may not see it. It may have been deleted.</p></Drawer>;
  }
  const kind: Kind = department ? 'department' : 'project';
  return (
    <Drawer key={`${id} ${unit.updatedAt} ${unit.status.phase === 'Deleting'}`} title={unit.name} row={id}>
      <UnitForm kind={kind} unit={unit} data={data} />
      <UnitFacts kind={kind} unit={unit} data={data} />
      {department && may('project:create', { department: id }) && <p class="actions"><a class="button" href={here({ new: 'project', in: id, open: '' })}>New project in it</a></p>}
    </Drawer>
  );
}
