// SPDX-License-Identifier: Apache-2.0

/* One template of workloads in the drawer, or a new one. */
import { useState } from 'preact/hooks';
import { call, REST } from '../../api/client';
import { placeOf, scopesFor, scopeText, type Units } from '../../api/scopes';
import { may, maySomewhere } from '../../api/session';
import { askFirst } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { readSpec, SpecFields, type Json, type SpecField } from '../../parts/spec';
import { Facts } from '../../parts/text';
import { param } from '../../state/address';
import { refresh } from '../../state/read';
import { say } from '../../state/say';
import { timeText } from '../../text/format';
import { plain } from '../../text/plain';

export interface Template {
  meta: {
    id: string;
    name: string;
    description?: string;
    workloadType: string;
    scopeType: string;
    scopeId: string;
    createdBy: string;
    createdAt: string;
    updatedBy?: string;
    updatedAt?: string;
  };
  spec: Json;
}

interface Kind {
  /** As the template names it. */
  type: string;
  path: string;
  name: string;
}

export const KINDS: Kind[] = [
  { type: 'Training', path: 'trainings', name: 'Training' }, { type: 'Workspace', path: 'workspaces', name: 'Workspace' }, { type: 'Distributed', path: 'distributed', name: 'Distributed training' },
];

const FIELDS: SpecField[] = [
  { path: 'image', label: 'Image', placeholder: 'pytorch/pytorch:2.9' }, { path: 'command', label: 'Command', placeholder: 'python', hint: 'Empty: that of the image' },
  { path: 'args', label: 'Arguments', placeholder: 'train.py' }, { path: 'workingDir', label: 'Working directory' },
  { path: 'compute.gpuDevicesRequest', label: 'GPUs', kind: 'number', placeholder: '1' }, { path: 'compute.gpuPortionRequest', label: 'Share of one GPU', kind: 'number', placeholder: '0.5' },
  { path: 'compute.cpuCoreRequest', label: 'CPUs', kind: 'number', placeholder: '8' }, { path: 'compute.cpuMemoryRequest', label: 'Memory', placeholder: '64Gi' },
  { path: 'environmentVariables', label: 'Variables', kind: 'pairs' }, { path: 'labels', label: 'Labels', kind: 'pairs' },
  { path: 'preemptibility', label: 'Preemption', kind: 'choice', options: [['', 'as its priority says'], ['preemptible', 'may be preempted'], ['non-preemptible', 'is never preempted']] },
];

export function keyOf({ scopeType, scopeId }: Template['meta']): string {
  return scopeType === 'department' || scopeType === 'project' ? `${scopeType}:${scopeId}` : scopeType;
}

async function close(text: string): Promise<void> {
  say(text);
  leaveDrawer();
  await refresh();
}

function askToDelete(template: Template): void {
  askFirst({
    title: `Delete ${plain(template.meta.name)}?`, text: 'This cannot be undone. Workloads that were submitted from it go on.', save: `Delete ${plain(template.meta.name)}`,
    act: async () => {
      await call('DELETE', `${REST}/workload-templates/${pathOf(template)}/${template.meta.id}`);
      await close(`${template.meta.name} was deleted.`);
    },
  });
}

function pathOf(template: Template): string {
  return KINDS.find((kind) => kind.type === template.meta.workloadType)?.path ?? 'trainings';
}

/** A share of a GPU is of one GPU. */
function specFrom(values: Values, before: Json = {}): Json {
  const spec = readSpec(FIELDS, values, before);
  const compute = spec.compute as Json | undefined;
  if (compute?.gpuPortionRequest !== undefined) spec.compute = { ...compute, gpuDevicesRequest: 1, gpuRequestType: 'portion' };
  else if (compute?.gpuRequestType === 'portion') delete compute.gpuRequestType;
  return spec;
}

function NewTemplate({ units }: { units: Units }) {
  const scopes = scopesFor('templates:create', units);
  const [kind, setKind] = useState('trainings');
  const send = (values: Values): Promise<unknown> => {
    const [scopeType, scopeId] = values.raw('meta.scopeType').split(':');
    return call('POST', `${REST}/workload-templates/${kind}`, {
      meta: { name: values.text('meta.name'), description: values.raw('meta.description'), scopeType, ...(scopeId ? { scopeId } : {}) }, spec: specFrom(values),
    });
  };
  return (
    <Drawer title="New template">
      <Form save="Create the template" send={send} done={() => close('The template was created.')}>
        <Field path="kind" label="Type" options={KINDS.map((one) => [one.path, one.name])} value={kind} onChange={setKind} />
        <Field path="meta.name" label="Name" isRequired />
        <Field path="meta.scopeType" label="For" options={scopes} value={scopes[0]?.[0]} hint="Whoever submits to a project there can use it." />
        <SpecFields fields={FIELDS} spec={{}} />
        <Field path="meta.description" label="Description" />
      </Form>
    </Drawer>
  );
}

function TemplateForm({ template, units }: { template: Template; units: Units }) {
  const { meta, spec } = template;
  const place = placeOf(keyOf(meta), units);
  const mayWrite = may('templates:update', place);
  const fields = (
    <>
      <Field path="meta.name" label="Name" value={meta.name} isReadonly={!mayWrite} isRequired={mayWrite} />
      <SpecFields fields={FIELDS} spec={spec} isReadonly={!mayWrite} />
      <Field path="meta.description" label="Description" value={meta.description} isReadonly={!mayWrite} />
    </>
  );
  if (!mayWrite) return <div class="form"><p class="note-line"><Icon name="shield" tone="dim" />You can view this template, but not change it.</p>{fields}</div>;
  const send = (values: Values): Promise<unknown> => call('PUT', `${REST}/workload-templates/${pathOf(template)}/${meta.id}`, {
    ...template, meta: { name: values.text('meta.name'), description: values.raw('meta.description') }, spec: specFrom(values, spec),
  });
  const more = may('templates:delete', place) ? <><span class="grow" /><button type="button" class="button quiet bad" onClick={() => askToDelete(template)}>Delete</button></> : null;
  return <Form save="Save" send={send} done={() => close(`${meta.name} was saved.`)} more={more}>{fields}</Form>;
}

/** What the address names, if it names something. */
export function TemplateDrawer({ templates, units }: { templates: Template[]; units: Units }) {
  if (param('new') === 'template' && maySomewhere('templates:create')) return <NewTemplate key="new" units={units} />;
  const id = param('open');
  if (!id) return null;
  const template = templates.find((one) => one.meta.id === id);
  if (!template) return <Drawer key="gone" title="Not here"><p class="dim">There is no template of this id here. It may have been deleted, or belong to a scope that you do not see.</p></Drawer>;
  const { meta } = template;
  return (
    <Drawer key={`${id} ${meta.updatedAt}`} title={meta.name} row={id}>
      <TemplateForm template={template} units={units} />
      <Facts pairs={[
        ['Type', KINDS.find((kind) => kind.type === meta.workloadType)?.name ?? meta.workloadType], ['For', scopeText(keyOf(meta), units)],
        ['Created', `${timeText(meta.createdAt)} by ${meta.createdBy}`], ['Changed', meta.updatedAt && `${timeText(meta.updatedAt)} by ${plain(meta.updatedBy)}`],
      ]} />
    </Drawer>
  );
}
