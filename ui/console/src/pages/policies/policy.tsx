// SPDX-License-Identifier: Apache-2.0

/* One policy in the drawer: its rules as rows, a check that changes nothing, and the same as a request. */
import { useState } from 'preact/hooks';
import { call, get, REST, REST2, Refusal } from '../../api/client';
import { may, maySomewhere } from '../../api/session';
import { placeOf, scopeBody, scopeKey, scopeQuery, scopesFor, scopeText, type Units } from '../../api/scopes';
import type { Meta } from '../../api/types';
import { askFirst } from '../../parts/dialog';
import { Copy } from '../../parts/copy';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, Tick, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { Facts } from '../../parts/text';
import { param } from '../../state/address';
import { refresh, useRead } from '../../state/read';
import { say } from '../../state/say';
import { countText, timeText } from '../../text/format';
import { plain } from '../../text/plain';
import { flatten, unflatten, type FlatRule, type Policy } from './flat';
import { draftOf, RuleRows, rulesOf, RuleTable } from './rows';

export interface Kind {
  /** As lists name it. */
  type: string;
  /** The last part of its address, in the REST as on the page. */
  path: string;
  title: string;
}

export interface Kept {
  meta?: Meta;
  policy?: Policy;
  effective?: Policy;
}

/** A data source that a policy can give to every workload. */
export interface Source {
  meta: { id: string; name: string; kind: string };
}

/** The policy of a scope and what holds there; null where there is none here or above. */
export async function readPolicy(kind: Kind, key: string): Promise<Kept | null> {
  try {
    return await get<Kept>(`${REST2}/policy/${kind.path}?${scopeQuery(key)}`);
  } catch (refusal) {
    if (refusal instanceof Refusal && refusal.status === 404) return null;
    throw refusal;
  }
}

/** What a first policy may say. */
function exampleOf(kind: Kind): FlatRule[] {
  const part = kind.type === 'distributed' ? 'worker.' : '';
  return [
    { member: `${part}compute.gpuDevicesRequest`, rule: 'max', value: 8 }, { member: `${part}image`, rule: 'required', value: true },
    { member: `${part}security.hostNetwork`, rule: 'canEdit', value: false }, { member: `${part}storage.hostPath.instances`, rule: 'canAdd', value: false },
  ];
}

async function close(text: string): Promise<void> {
  say(text);
  leaveDrawer();
  await refresh();
}

function askToDelete(kind: Kind, key: string, units: Units, rules: number): void {
  askFirst({
    title: `Delete the policy of ${scopeText(key, units)}?`, text: `This cannot be undone. From then on these no longer hold for new ${kind.title.toLowerCase()} there:`,
    facts: [countText(rules, 'rule and default', 'rules and defaults'), 'the data sources that it gives to every workload'], save: 'Delete the policy',
    act: async () => {
      await call('DELETE', `${REST2}/policy/${kind.path}?${scopeQuery(key)}`);
      await close(`The policy of ${scopeText(key, units)} was deleted.`);
    },
  });
}

function imposedOf(kept: Kept | null): string[] {
  const ids = kept?.policy?.imposedAssets;
  return Array.isArray(ids) ? (ids as string[]) : [];
}

interface EditorProps {
  kind: Kind;
  /** Null for a new one. */
  kept: Kept | null;
  units: Units;
  sources: Source[];
  /** Scopes that have a policy of this kind. */
  taken: string[];
}

function Editor({ kind, kept, units, sources, taken }: EditorProps) {
  const free = scopesFor('policies:update', units).filter(([key]) => !taken.includes(key));
  const [drafts, change] = useState(() => (kept?.policy ? flatten(kept.policy) : param('example') ? exampleOf(kind) : []).map(draftOf));
  const [checked, setChecked] = useState<FlatRule[] | null>(null);
  const [key, setKey] = useState(kept?.meta ? scopeKey(kept.meta) : free[0]?.[0] ?? 'tenant');
  const hasParts = kind.type === 'distributed';
  const bodyOf = (name: string, imposed: string[]): unknown => ({
    meta: { name, ...scopeBody(key) },
    policy: { ...unflatten(rulesOf(drafts)), ...(hasParts ? { imposedAssets: kept?.policy?.imposedAssets ?? null } : imposed.length ? { imposedAssets: imposed } : {}) },
  });
  const body = (values: Values): unknown => bodyOf(values.text('meta.name'), values.ticks().filter((path) => path.startsWith('imposed.')).map((path) => path.slice(8)));
  const send = (values: Values): Promise<unknown> => call('PUT', `${REST2}/policy/${kind.path}`, body(values));
  const check = async (values: Values): Promise<void> => {
    const answer = await call<Kept>('PUT', `${REST2}/policy/${kind.path}?validateOnly=true`, body(values));
    setChecked(flatten(answer.effective ?? {}));
  };
  const more = kept && may('policies:delete', placeOf(key, units))
    ? <><span class="grow" /><button type="button" class="button quiet bad" onClick={() => askToDelete(kind, key, units, drafts.length)}>Delete</button></> : null;
  return (
    <>
      <Form save={kept ? 'Save' : 'Create the policy'} send={send} done={() => close(`The policy of ${scopeText(key, units)} was saved.`)} also={{ text: 'Check', send: check }} more={more}>
        <Field path="meta.name" label="Name" value={kept?.meta?.name ?? ''} isRequired />
        {!kept && <Field path="meta.scope" label="For" options={free} value={key} onChange={setKey} hint="It holds there and in everything below." />}
        <h3>Rules and defaults</h3>
        <RuleRows kind={kind.type} drafts={drafts} change={(next) => { change(next); setChecked(null); }} />
        <p class="hint">{'Options and locked items are separated by commas. A text that reads as a number is in quotes: "4".'}</p>
        {!hasParts && sources.length > 0 && (
          <>
            <h3>Data sources that every workload gets</h3>
            {sources.map(({ meta }) => <Tick key={meta.id} path={`imposed.${meta.id}`} text={`${plain(meta.name)} (${plain(meta.kind)})`} isTicked={imposedOf(kept).includes(meta.id)} />)}
          </>
        )}
      </Form>
      {checked && (
        <section class="checked" aria-label="Check">
          <p class="note-line" role="status"><Icon name="tick" tone="good" />{`Muster accepts it, and has changed nothing. With it, this holds in ${scopeText(key, units)}:`}</p>
          {checked.length ? <RuleTable label="What would hold" rules={checked} units={units} /> : <p class="dim">Nothing: what quotas allow is allowed.</p>}
        </section>
      )}
      <details class="commands">
        <summary>As a request</summary>
        <Copy text={`curl -s -X PUT ${location.origin}${REST2}/policy/${kind.path} -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '${JSON.stringify(bodyOf(kept?.meta?.name ?? 'limits', imposedOf(kept)), null, 2)}'`} />
      </details>
    </>
  );
}

interface Read { kept: Kept | null; sources: Source[] }

async function readSources(): Promise<Source[]> {
  return maySomewhere('pvc-assets:read') ? (await get<{ entries: Source[] }>(`${REST}/asset/datasource`)).entries : [];
}

/** The policy that the address names by its scope, or a new one. */
export function PolicyDrawer({ kind, units, metas }: { kind: Kind; units: Units; metas: Meta[] }) {
  const isNew = param('new') === 'policy' && maySomewhere('policies:update');
  const key = param('open');
  const meta = metas.find((one) => scopeKey(one) === key);
  if (isNew) return <Opened key="new" kind={kind} units={units} metas={metas} meta={null} />;
  if (!key) return null;
  if (!meta) return <Drawer key="gone" title="Not here"><p class="dim">This scope has no policy of this kind. It may have been deleted.</p></Drawer>;
  return <Opened key={`${key} ${meta.updatedAt}`} kind={kind} units={units} metas={metas} meta={meta} />;
}

function Opened({ kind, units, metas, meta }: { kind: Kind; units: Units; metas: Meta[]; meta: Meta | null }) {
  const key = meta ? scopeKey(meta) : '';
  const load = async (): Promise<Read> => {
    const [kept, sources] = await Promise.all([meta ? readPolicy(kind, key) : null, readSources()]);
    return { kept, sources };
  };
  const read = useRead(`${kind.type} ${key} ${meta?.updatedAt}`, load, { topics: [] , each: 3_600_000 });
  return (
    <Drawer title={meta ? meta.name : 'New policy'} row={key}>
      {!read.data && <p class="dim" role="status">{read.error ? plain(read.error.message) : 'Reading.'}</p>}
      {read.data && (!meta || may('policies:update', placeOf(key, units))
        ? <Editor kind={kind} kept={read.data.kept} units={units} sources={read.data.sources} taken={metas.map(scopeKey)} />
        : <><p class="note-line"><Icon name="shield" tone="dim" />You can view this policy, but not change it.</p><RuleTable label="Rules" rules={flatten(read.data.kept?.policy ?? {})} /></>)}
      {meta && (
        <Facts pairs={[['For', scopeText(key, units)], ['Created', `${timeText(meta.createdAt)} by ${plain(meta.createdBy)}`], ['Changed', `${timeText(meta.updatedAt)} by ${plain(meta.updatedBy)}`]]} />
      )}
    </Drawer>
  );
}
