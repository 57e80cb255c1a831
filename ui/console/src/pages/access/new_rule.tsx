// SPDX-License-Identifier: Apache-2.0

/* The form of a new access rule: the choice of a subject follows its kind, and the choice of a place the kind of scope. */
import { useState } from 'preact/hooks';
import { call, REST } from '../../api/client';
import { may } from '../../api/session';
import { Drawer } from '../../parts/drawer';
import { Field, Form, type Values } from '../../parts/form';
import { go, here, param } from '../../state/address';
import { refresh } from '../../state/read';
import { say } from '../../state/say';
import type { RuleData } from './rules';

type Option = [value: string, text: string];

function SubjectField({ kind, data: { users, accounts } }: { kind: string; data: RuleData }) {
  if (kind === 'group') return <Field key="group" path="subjectId" label="Name of the group" hint="As the identity provider names it. The group may still be empty." isRequired />;
  const options: Option[] = kind === 'user' ? (users ?? []).map((one) => [one.id, one.username]) : (accounts ?? []).map((one) => [one.id, one.name]);
  const given = options.some(([id]) => id === param('subject')) ? param('subject') : options[0]?.[0];
  return <Field key={kind} path="subjectId" label={kind === 'user' ? 'User' : 'Service account'} options={options} value={given} isRequired />;
}

export function NewRule({ data }: { data: RuleData }) {
  const { users, accounts, roles, departments, projects } = data;
  const kinds: Option[] = [...(users ? [['user', 'User'] as Option] : []), ...(accounts ? [['service-account', 'Service account'] as Option] : []), ['group', 'Group of an identity provider']];
  const scopes: Option[] = [
    ...(may('access_rules:create') ? [['tenant', 'Everything'] as Option] : []), ...(departments.length ? [['department', 'A department'] as Option] : []),
    ...(projects.length ? [['project', 'A project'] as Option] : []),
  ];
  const [kind, setKind] = useState(kinds.some(([value]) => value === param('kind')) ? param('kind') : kinds[0]![0]);
  const [scope, setScope] = useState(scopes[0]?.[0] ?? 'tenant');
  const [role, setRole] = useState(String(roles[0]?.id ?? ''));
  const places = scope === 'department' ? departments : scope === 'project' ? projects : null;
  const send = (values: Values): Promise<unknown> => call('POST', `${REST}/authorization/access-rules`, {
    subjectType: kind, subjectId: values.text('subjectId'), roleId: Number(role), scopeType: scope, scopeId: scope === 'tenant' ? '1' : values.raw('scopeId'),
  });
  const done = async (): Promise<void> => {
    say('The access rule was created.');
    go(here({ new: '', kind: '', subject: '' }));
    await refresh();
  };
  return (
    <Drawer title="New access rule">
      <Form save="Give the role" send={send} done={done}>
        <Field path="subjectType" label="Who" options={kinds} value={kind} onChange={setKind} />
        <SubjectField kind={kind} data={data} />
        <Field path="roleId" label="Role" options={roles.map((one) => [one.id, one.name])} value={role} hint={roles.find((one) => String(one.id) === role)?.description} onChange={setRole} />
        <Field path="scopeType" label="Where" options={scopes} value={scope} onChange={setScope} />
        {places && <Field key={scope} path="scopeId" label={scope === 'department' ? 'Department' : 'Project'} options={places.map((one) => [one.id, one.name])} value={places[0]?.id} />}
      </Form>
    </Drawer>
  );
}
