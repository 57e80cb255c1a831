// SPDX-License-Identifier: Apache-2.0

/* One asset in the drawer, or a new one. */
import { useState } from 'preact/hooks';
import { call, REST } from '../../api/client';
import { placeOf, scopeBody, scopeKey, scopesFor, scopeText, type Units } from '../../api/scopes';
import { may } from '../../api/session';
import type { Meta } from '../../api/types';
import { askFirst } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, Tick, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { readSpec, SpecFields, type Json } from '../../parts/spec';
import { Phase } from '../../parts/table';
import { Facts } from '../../parts/text';
import { go, here, param } from '../../state/address';
import { refresh } from '../../state/read';
import { say } from '../../state/say';
import { countText, listText, timeText } from '../../text/format';
import { plain } from '../../text/plain';
import type { AssetGroup, AssetKind } from './kinds';

export interface Asset {
  meta: Meta & { kind: string; private?: boolean };
  spec: Json;
  status?: { status: string; message?: string; issues?: { message?: string }[] };
  usedBy?: { templates: { id: string; name: string }[] };
  clusterInfo?: { resources?: { name: string }[] };
}

export interface AssetData {
  assets: Asset[];
  units: Units;
  /** For those that name one. */
  credentials: Asset[];
}

async function close(text: string): Promise<void> {
  say(text);
  leaveDrawer();
  await refresh();
}

export function phaseOf(asset: Asset): string {
  const status = asset.status?.status ?? '';
  return status === 'No issues found' ? 'Ready' : status === 'Issues found' ? 'Failed' : status;
}

/** Lists of several kinds have the spec below a name of its kind. */
export function specOf(group: AssetGroup, asset: Asset): Json {
  return group.kinds.length > 1 ? ((Object.values(asset.spec)[0] ?? {}) as Json) : asset.spec;
}

function askToDelete(kind: AssetKind, asset: Asset): void {
  const users = asset.usedBy?.templates ?? [];
  askFirst({
    title: `Delete ${plain(asset.meta.name)}?`, text: `This cannot be undone. ${kind.lost}`, save: `Delete ${plain(asset.meta.name)}`,
    facts: users.length ? [`${countText(users.length, 'template')} use${users.length === 1 ? 's' : ''} it: ${listText(users.map((one) => plain(one.name)))}. Change or delete them first.`] : [],
    act: async () => {
      await call('DELETE', `${REST}/asset/${kind.path}/${asset.meta.id}`);
      await close(`${asset.meta.name} was deleted.`);
    },
  });
}

function CredentialField({ kind, spec, credentials, isReadonly }: { kind: AssetKind; spec: Json; credentials: Asset[]; isReadonly: boolean }) {
  if (!kind.credential) return null;
  const { member, label, kinds } = kind.credential;
  const options: [string, string][] = [['', 'none'], ...credentials.filter((one) => kinds.includes(one.meta.kind)).map((one): [string, string] => [one.meta.id, one.meta.name])];
  return <Field path={`spec.${member}`} label={label} options={options} value={spec[member] as string | undefined} isReadonly={isReadonly} hint={options.length === 1 ? 'There is no credential that fits yet.' : ''} />;
}

function specFrom(kind: AssetKind, values: Values, before?: Json): Json {
  const spec = readSpec(before ? kind.changes ?? kind.fields : kind.fields, values, before);
  if (kind.credential) {
    const id = values.raw(`spec.${kind.credential.member}`);
    delete spec[kind.credential.member];
    if (id) spec[kind.credential.member] = id;
  }
  return kind.kind === 'registry' ? { ...spec, credentialKind: 'password' } : spec;
}

function NewAsset({ group, data }: { group: AssetGroup; data: AssetData }) {
  const kinds = group.kinds.filter((kind) => scopesFor(`${kind.permission}:create`, data.units).length);
  const [name, setKind] = useState(kinds.find((one) => one.kind === param('kind'))?.kind ?? kinds[0]?.kind ?? '');
  const kind = kinds.find((one) => one.kind === name);
  if (!kind) return null;
  const scopes = scopesFor(`${kind.permission}:create`, data.units);
  const send = (values: Values): Promise<Asset> => call('POST', `${REST}/asset/${kind.path}`, {
    meta: { name: values.text('meta.name'), description: values.raw('meta.description'), ...scopeBody(values.raw('meta.scope')), ...(values.isTicked('meta.private') ? { private: true } : {}) },
    spec: specFrom(kind, values),
  });
  const done = async (made: Asset): Promise<void> => {
    say(`${made.meta.name} was created.`);
    go(here({ new: '', kind: '' }));
    await refresh();
  };
  return (
    <Drawer title={`New ${group.one}`}>
      <Form save={`Create the ${group.one}`} send={send} done={done}>
        {kinds.length > 1 && <Field path="kind" label="Kind" options={kinds.map((one) => [one.kind, one.name])} value={name} onChange={setKind} />}
        <Field path="meta.name" label="Name" isRequired />
        <Field path="meta.scope" label="For" options={scopes} value={scopes[0]![0]} hint="It can be used there and in everything below." />
        <SpecFields key={name} fields={kind.fields} spec={{}} />
        <CredentialField kind={kind} spec={{}} credentials={data.credentials} isReadonly={false} />
        {kind.canBePrivate && <Tick path="meta.private" text="Private: nobody else sees it" />}
        <Field path="meta.description" label="Description" />
      </Form>
    </Drawer>
  );
}

function AssetForm({ kind, asset, spec, data }: { kind: AssetKind; asset: Asset; spec: Json; data: AssetData }) {
  const place = placeOf(scopeKey(asset.meta), data.units);
  const mayWrite = may(`${kind.permission}:update`, place);
  const isCredential = kind.permission === 'credentials';
  const fields = (kind.changes ?? kind.fields).filter((field) => mayWrite || field.kind !== 'secret');
  const inside = (
    <>
      {!isCredential && <Field path="meta.name" label="Name" value={asset.meta.name} isReadonly={!mayWrite} isRequired={mayWrite} />}
      <SpecFields fields={fields} spec={spec} isReadonly={!mayWrite} />
      {!kind.changes && <CredentialField kind={kind} spec={spec} credentials={data.credentials} isReadonly={!mayWrite} />}
      <Field path="meta.description" label="Description" value={asset.meta.description} isReadonly={!mayWrite} />
    </>
  );
  if (!mayWrite) return <div class="form"><p class="note-line"><Icon name="shield" tone="dim" />{`You can view this ${kind.name.toLowerCase()}, but not change it.`}</p>{inside}</div>;
  const send = (values: Values): Promise<unknown> => call('PUT', `${REST}/asset/${kind.path}/${asset.meta.id}`, {
    meta: { ...(isCredential ? {} : { name: values.text('meta.name') }), description: values.raw('meta.description') },
    ...(isCredential ? {} : { spec: specFrom(kind, values, spec) }),
  });
  const more = may(`${kind.permission}:delete`, place) ? <><span class="grow" /><button type="button" class="button quiet bad" onClick={() => askToDelete(kind, asset)}>Delete</button></> : null;
  return <Form save="Save" send={send} done={() => close(`${asset.meta.name} was saved.`)} more={more}>{inside}</Form>;
}

/** What the address names, if it names something. */
export function AssetDrawer({ group, data }: { group: AssetGroup; data: AssetData }) {
  if (param('new') === 'asset') return <NewAsset key="new" group={group} data={data} />;
  const id = param('open');
  if (!id) return null;
  const asset = data.assets.find((one) => one.meta.id === id);
  const kind = asset && group.kinds.find((one) => one.kind === asset.meta.kind);
  if (!asset || !kind) return <Drawer key="gone" title="Not here"><p class="dim">{`There is no ${group.one} of this id here. It may have been deleted, or belong to a scope that you do not see.`}</p></Drawer>;
  const spec = specOf(group, asset);
  const { meta, status, usedBy, clusterInfo } = asset;
  return (
    <Drawer key={`${id} ${meta.updatedAt}`} title={meta.name} row={id}>
      <AssetForm kind={kind} asset={asset} spec={spec} data={data} />
      <Facts pairs={[
        ['Kind', kind.name], ['For', meta.private ? 'you alone' : scopeText(scopeKey(meta), data.units)], ['Holds', kind.changes ? kind.summary(spec) : ''],
        ['In the cluster', phaseOf(asset) && phaseOf(asset) !== 'No status' ? <Phase phase={phaseOf(asset)} message={status?.message ?? ''} /> : ''],
        ['Problem', phaseOf(asset) === 'Failed' ? status?.message ?? '' : ''],
        ['Object', clusterInfo?.resources?.[0]?.name],
        ['Used by', usedBy?.templates.length ? usedBy.templates.map((one) => one.name).join(', ') : 'no template'],
        ['Created', `${timeText(meta.createdAt)} by ${meta.createdBy}`], ['Changed', `${timeText(meta.updatedAt)} by ${meta.updatedBy}`],
      ]} />
    </Drawer>
  );
}
