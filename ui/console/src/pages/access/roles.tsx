// SPDX-License-Identifier: Apache-2.0

/* Roles: those that come with the console, and custom ones. */
import type { ComponentChildren } from 'preact';
import { call, get, OURS, REST } from '../../api/client';
import { readRules } from '../../api/lists';
import { may } from '../../api/session';
import type { Permission, Role, Rule } from '../../api/types';
import { askFirst } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { Body, MainLink } from '../../parts/page';
import { NoMatch } from '../../parts/states';
import { RowLink, Table, type Column } from '../../parts/table';
import { here, param } from '../../state/address';
import { refresh, useRead } from '../../state/read';
import { say } from '../../state/say';
import { countText, matches } from '../../text/format';
import { plain } from '../../text/plain';
import { AccessHead, AccessPanel, TITLE } from './access';

const ACTIONS = ['create', 'read', 'update', 'delete'];
const GROUP_TITLES: Record<string, string> = {
  organization: 'Organisation', 'physical-resource': 'Hardware', iam: 'Users and access', dashboard: 'Dashboards', workload: 'Workloads', 'workload-asset': 'Assets',
};

interface Data {
  roles: Role[];
  /** All that there is to allow. */
  kinds: Permission[];
  rules: Rule[] | null;
}

async function load(): Promise<Data> {
  const [roles, kinds, rules] = await Promise.all([get<Role[]>(`${REST}/authorization/roles`), get<Permission[]>(`${REST}/authorization/permissions`), readRules()]);
  return { roles, kinds, rules };
}

function permissionCount(role: Role): number {
  return role.permissions.reduce((sum, one) => sum + one.actions.filter((action) => ACTIONS.includes(action)).length, 0);
}

function columns(rules: Rule[] | null): Column<Role>[] {
  return [
    { head: 'Role', isName: true, cell: (role) => <RowLink name={role.name} id={String(role.id)}>{role.custom && <small>custom</small>}</RowLink> },
    { head: 'What it is for', className: 'fill', isWide: true, cell: (role) => role.description },
    { head: 'Permissions', isNumber: true, cell: (role) => String(permissionCount(role)) },
    { head: 'Given by rules', isNumber: true, cell: (role) => (rules ? String(rules.filter((rule) => rule.roleId === role.id).length) : '–') },
  ];
}

/** What there is to allow as a table of ticks or marks, by group. */
function PermissionTable({ kinds, cell }: { kinds: Permission[]; cell: (type: string, action: string) => ComponentChildren }) {
  const groups = [...new Set(kinds.map((kind) => kind.groupId))];
  return (
    <div class="scroll">
      <table class="permissions">
        <thead><tr><th scope="col">What</th>{ACTIONS.map((action) => <th key={action} scope="col">{action}</th>)}</tr></thead>
        {groups.map((group) => (
          <tbody key={group}>
            <tr class="group"><th scope="rowgroup" colSpan={5}>{GROUP_TITLES[group] ?? plain(group)}</th></tr>
            {kinds.filter((kind) => kind.groupId === group).map(({ resourceType }) => (
              <tr key={resourceType}><th scope="row">{resourceType}</th>{ACTIONS.map((action) => <td key={action}>{cell(resourceType, action)}</td>)}</tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function readPermissions(values: Values): { resourceType: string; actions: string[] }[] {
  const found = new Map<string, string[]>();
  for (const path of values.ticks()) {
    const [, type, action] = /^permissions\.([^:]+):(.+)$/.exec(path) ?? [];
    if (type && action) found.set(type, [...(found.get(type) ?? []), action]);
  }
  return [...found].map(([resourceType, actions]) => ({ resourceType, actions }));
}

async function close(text: string): Promise<void> {
  say(text);
  leaveDrawer();
  await refresh();
}

function askToDelete(role: Role): void {
  askFirst({
    title: `Delete the role ${plain(role.name)}?`, text: 'This cannot be undone. A role that an access rule gives cannot be deleted.', save: 'Delete the role',
    act: async () => {
      await call('DELETE', `${OURS}/roles/${role.id}`);
      await close(`${role.name} was deleted.`);
    },
  });
}

function allows(role: Role | null, type: string, action: string): boolean {
  return Boolean(role?.permissions.some((one) => one.resourceType === type && one.actions.includes(action)));
}

/** Nobody gives more than it has: what is missing cannot be ticked. */
function RoleForm({ role, kinds }: { role: Role | null; kinds: Permission[] }) {
  const tick = (type: string, action: string) => (
    <input type="checkbox" data-path={`permissions.${type}:${action}`} aria-label={`${type}: ${action}`} disabled={!may(`${type}:${action}`)} defaultChecked={allows(role, type, action)} />
  );
  const send = (values: Values): Promise<unknown> => {
    const body = { name: role ? role.name : values.text('name'), description: values.raw('description'), permissions: readPermissions(values) };
    return role ? call('PUT', `${OURS}/roles/${role.id}`, body) : call('POST', `${OURS}/roles`, body);
  };
  const more = role && may('roles:delete') && <><span class="grow" /><button type="button" class="button quiet bad" onClick={() => askToDelete(role)}>Delete</button></>;
  return (
    <Form save={role ? 'Save' : 'Create the role'} send={send} done={() => close(role ? `${role.name} was saved. The change applies to everyone who has the role.` : 'The role was created.')} more={more}>
      {!role && <Field path="name" label="Name" isRequired />}
      <Field path="description" label="What it is for" value={role?.description} />
      <h3>Permissions</h3>
      <PermissionTable kinds={kinds} cell={tick} />
    </Form>
  );
}

function RoleDrawer({ roles, kinds }: Data) {
  if (param('new') === 'role' && may('roles:create')) return <Drawer key="new" title="New role"><RoleForm role={null} kinds={kinds} /></Drawer>;
  const role = roles.find((one) => String(one.id) === param('open'));
  if (!role) return null;
  const id = String(role.id);
  if (role.custom && may('roles:update')) return <Drawer key={`${id} ${role.updatedAt}`} title={role.name} row={id}><RoleForm role={role} kinds={kinds} /></Drawer>;
  const mark = (type: string, action: string) => allows(role, type, action) && <span role="img" aria-label="yes"><Icon name="tick" tone="good" /></span>;
  return <Drawer key={id} title={role.name} row={id}><p class="dim">{plain(role.description)}</p><PermissionTable kinds={role.permissions} cell={mark} /></Drawer>;
}

export default function Roles() {
  const read = useRead('roles', load, { topics: ['access'] });
  return (
    <Body title={TITLE} read={read}>
      {(data) => {
        const rows = data.roles.filter((role) => matches(param('q'), role.name, role.description));
        return (
          <>
            <AccessHead lead={`${countText(data.roles.length, 'role')}, ${data.roles.filter((role) => role.custom).length} of them custom. Access rules assign them.`}>
              {may('roles:create') && <MainLink text="New role" where={here({ new: 'role', open: '' })} />}
            </AccessHead>
            <AccessPanel title="Roles" label="Filter by name">
              {rows.length ? <Table label="Roles" rows={rows} columns={columns(data.rules)} idOf={(role) => String(role.id)} /> : <NoMatch />}
            </AccessPanel>
            <RoleDrawer {...data} />
          </>
        );
      }}
    </Body>
  );
}
