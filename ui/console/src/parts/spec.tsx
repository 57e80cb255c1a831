// SPDX-License-Identifier: Apache-2.0

/*
 * The members of a spec as fields, from a table that says what each is. Members that no table names stay as they were: a form
 * takes nothing away that it does not show.
 */
import { useRef, useState } from 'preact/hooks';
import { plain } from '../text/plain';
import { Field, Tick, type Values } from './form';
import { Icon } from './icon';

export type Json = Record<string, unknown>;

export interface SpecField {
  /** The member within the spec, such as "claimInfo.size". */
  path: string;
  label: string;
  kind?: 'text' | 'number' | 'secret' | 'tick' | 'choice' | 'pairs';
  hint?: string;
  placeholder?: string;
  /** Of a choice: values and their texts. */
  options?: [string, string][];
  /** Of pairs: the members of each. */
  names?: [string, string];
  /** The values of the pairs are secrets. */
  isSecret?: boolean;
}

function at(spec: Json, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Json | undefined)?.[name], spec);
}

function put(spec: Json, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop()!;
  let to = spec;
  for (const name of names) {
    to[name] = { ...(to[name] as Json | undefined) };
    to = to[name] as Json;
  }
  if (value === undefined) delete to[last];
  else to[last] = value;
}

interface Pair { id: number; first: string; second: string }

/** Entries that have something else than a value, such as one from a credential, are kept and not shown as pairs. */
function isPair(entry: Json, [, second]: [string, string]): boolean {
  return entry[second] === undefined ? Object.keys(entry).length === 1 : typeof entry[second] === 'string';
}

function entriesOf(spec: Json, path: string): Json[] {
  const list = at(spec, path);
  return Array.isArray(list) ? (list as Json[]) : [];
}

function Pairs({ field, spec, isReadonly }: { field: SpecField; spec: Json; isReadonly: boolean }) {
  const names = field.names ?? ['name', 'value'];
  const lastId = useRef(0);
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const [pairs, change] = useState<Pair[]>(() => entriesOf(spec, field.path).filter((one) => isPair(one, names)).map((one) => ({ id: ++lastId.current, first: text(one[names[0]]), second: text(one[names[1]]) })));
  const others = entriesOf(spec, field.path).filter((one) => !isPair(one, names));
  return (
    <fieldset class="pairs">
      <legend>{field.label}</legend>
      {pairs.map((pair, i) => (
        <div class="pair" key={pair.id}>
          <Field path={`spec.${field.path}[${i}].${names[0]}`} label={`${names[0]} ${i + 1}`} hidesLabel value={pair.first} placeholder={names[0]} isReadonly={isReadonly} />
          <Field path={`spec.${field.path}[${i}].${names[1]}`} label={`${names[1]} ${i + 1}`} hidesLabel value={pair.second} placeholder={names[1]} kind={field.isSecret ? 'password' : 'text'} complete="new-password" isReadonly={isReadonly} />
          {!isReadonly && <button type="button" class="icon" aria-label={`Remove ${i + 1}`} title="Remove" onClick={() => change(pairs.filter((one) => one.id !== pair.id))}><Icon name="cross" /></button>}
        </div>
      ))}
      {others.length > 0 && <p class="hint">{plain(`Kept as they are: ${others.map((one) => text(one[names[0]])).join(', ')}`)}</p>}
      {!isReadonly && <p class="actions"><button type="button" class="button" onClick={() => change([...pairs, { id: ++lastId.current, first: '', second: '' }])}><Icon name="plus" />Add</button></p>}
      {isReadonly && !pairs.length && !others.length && <p class="hint">none</p>}
    </fieldset>
  );
}

export function SpecFields({ fields, spec, isReadonly = false }: { fields: SpecField[]; spec: Json; isReadonly?: boolean }) {
  return (
    <>
      {fields.map((field) => {
        const value = at(spec, field.path);
        const path = `spec.${field.path}`;
        if (field.kind === 'pairs') return <Pairs key={path} field={field} spec={spec} isReadonly={isReadonly} />;
        if (field.kind === 'tick') return isReadonly ? <p key={path} class="hint">{`${field.label}: ${value ? 'yes' : 'no'}`}</p> : <Tick key={path} path={path} text={field.label} isTicked={value === true} />;
        return (
          <Field key={path} path={path} label={field.label} kind={field.kind === 'secret' ? 'password' : 'text'} value={value as string | number | undefined} hint={field.hint}
            placeholder={field.placeholder ?? ''} isReadonly={isReadonly} {...(field.options ? { options: field.options } : {})} {...(field.kind === 'number' ? { mode: 'decimal' as const } : {})}
            complete={field.kind === 'secret' ? 'new-password' : 'off'} />
        );
      })}
    </>
  );
}

function readPairs(field: SpecField, values: Values, before: Json): Json[] {
  const [first, second] = field.names ?? ['name', 'value'];
  const pairs: Json[] = [];
  for (let i = 0; values.has(`spec.${field.path}[${i}].${first}`); i++) {
    const name = values.text(`spec.${field.path}[${i}].${first}`);
    pairs.push({ [first]: name, [second]: values.raw(`spec.${field.path}[${i}].${second}`) });
  }
  return [...pairs, ...entriesOf(before, field.path).filter((one) => !isPair(one, [first, second]))];
}

function readOne(field: SpecField, values: Values, before: Json): unknown {
  const path = `spec.${field.path}`;
  if (field.kind === 'pairs') {
    const pairs = readPairs(field, values, before);
    return pairs.length ? pairs : undefined;
  }
  // What was not said stays unsaid: a policy may have a default for it.
  if (field.kind === 'tick') return values.isTicked(path) || (at(before, field.path) !== undefined ? false : undefined);
  const text = values.text(path);
  if (!text) return undefined;
  // The server says what is wrong with a number that is none.
  return field.kind === 'number' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The spec that was entered, with everything of the one `before` that no field shows. */
export function readSpec(fields: SpecField[], values: Values, before: Json = {}): Json {
  const spec: Json = structuredClone(before);
  for (const field of fields) put(spec, field.path, readOne(field, values, before));
  for (const [name, value] of Object.entries(spec)) if (value !== null && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length === 0) delete spec[name];
  return spec;
}
