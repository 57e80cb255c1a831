// SPDX-License-Identifier: Apache-2.0

/* Access rules: a subject has a role in a scope. Rules are created and deleted, and never changed. */
import { call, REST } from '../../api/client';
import { readAccounts, readDepartments, readProjects, readRoles, readRules, readUsers } from '../../api/lists';
import { may, maySomewhere } from '../../api/session';
import type { Account, Role, Rule, Unit, User } from '../../api/types';
import { ActionRow } from '../../parts/action';
import { askFirst } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Body, MainLink } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { RowLink, Table, type Column } from '../../parts/table';
import { Facts } from '../../parts/text';
import { here, param } from '../../state/address';
import { refresh, useRead } from '../../state/read';
import { say } from '../../state/say';
import { countText, matches, timeText } from '../../text/format';
import { plain } from '../../text/plain';
import { AccessHead, AccessPanel, scopeText, SUBJECT_KINDS, TITLE } from './access';
import { NewRule } from './new_rule';

export interface RuleData {
  rules: Rule[];
  /** Null where one may not read them. */
  users: User[] | null;
  accounts: Account[] | null;
  roles: Role[];
  departments: Unit[];
  projects: Unit[];
}

async function load(): Promise<RuleData> {
  const byName = (a: Unit, b: Unit): number => a.name.localeCompare(b.name);
  const [rules, users, accounts, roles, departments, projects] = await Promise.all([readRules(), readUsers(), readAccounts(), readRoles(), readDepartments(), readProjects()]);
  return { rules: rules ?? [], users, accounts, roles, departments: departments.toSorted(byName), projects: projects.toSorted(byName) };
}

type Names = Map<string, string>;

function namesOf({ users, accounts }: RuleData): Names {
  return new Map([...(users ?? []).map((user): [string, string] => [user.id, user.username]), ...(accounts ?? []).map((account): [string, string] => [account.id, account.name])]);
}

function subjectName(rule: Rule, names: Names): string {
  return names.get(rule.subjectId) ?? rule.subjectId;
}

function kindText(rule: Rule): string {
  return SUBJECT_KINDS[rule.subjectType] ?? plain(rule.subjectType);
}

function columns(names: Names): Column<Rule>[] {
  return [
    {
      head: 'Subject', isName: true,
      cell: (rule) => <RowLink name={subjectName(rule, names)} id={String(rule.id)}>{rule.subjectType !== 'user' && <small>{kindText(rule).toLowerCase()}</small>}</RowLink>,
    },
    { head: 'Role', cell: (rule) => rule.roleName },
    { head: 'Scope', className: 'fill', cell: (rule) => (rule.scopeType === 'tenant' ? 'everything' : `${rule.scopeType} ${rule.scopeName}`) },
    { head: 'Given by', isWide: true, cell: (rule) => rule.createdBy },
    { head: 'Since', isWide: true, isNumber: true, cell: (rule) => timeText(rule.createdAt) },
  ];
}

function askToDelete(rule: Rule, name: string): void {
  askFirst({
    title: 'Delete the access rule?', save: 'Delete the access rule',
    text: `${plain(name)} is no longer ${plain(rule.roleName)} of ${plain(scopeText(rule))}. Requests that need the role are refused at once.`,
    act: async () => {
      await call('DELETE', `${REST}/authorization/access-rules/${rule.id}`);
      say('The access rule was deleted.');
      leaveDrawer();
      await refresh();
    },
  });
}

function mayDelete(rule: Rule, projects: Unit[]): boolean {
  if (rule.scopeType === 'department') return may('access_rules:delete', { department: rule.scopeId });
  if (rule.scopeType !== 'project') return may('access_rules:delete');
  return may('access_rules:delete', { department: projects.find((one) => one.id === rule.scopeId)?.parentId, project: rule.scopeId });
}

function RuleDrawer({ data }: { data: RuleData }) {
  if (param('new') === 'rule' && maySomewhere('access_rules:create')) return <NewRule key={param('subject')} data={data} />;
  const rule = data.rules.find((one) => String(one.id) === param('open'));
  if (!rule) return null;
  const name = subjectName(rule, namesOf(data));
  const role = data.roles.find((one) => one.id === rule.roleId);
  return (
    <Drawer key={rule.id} title={name} row={String(rule.id)}>
      <p class="sentence"><b>{plain(name)}</b>{' is '}<b>{plain(rule.roleName)}</b>{' of '}<b>{plain(scopeText(rule))}</b>.</p>
      <Facts pairs={[['Kind', kindText(rule)], ['The role', role?.description], ['Given by', rule.createdBy], ['Since', timeText(rule.createdAt)]]} />
      {mayDelete(rule, data.projects) && (
        <section class="drawer-part"><ActionRow text="Delete" hint="Takes effect with the next request." act={() => askToDelete(rule, name)} tone="quiet bad" /></section>
      )}
    </Drawer>
  );
}

export default function Rules() {
  const read = useRead('rules', load, { topics: ['access', 'org-units'] });
  return (
    <Body title={TITLE} read={read}>
      {(data) => {
        const names = namesOf(data);
        const rows = data.rules.filter((rule) => matches(param('q'), subjectName(rule, names), rule.roleName, rule.scopeName, SUBJECT_KINDS[rule.subjectType]))
          .toSorted((a, b) => subjectName(a, names).localeCompare(subjectName(b, names)) || a.id - b.id);
        return (
          <>
            <AccessHead lead={`${countText(data.rules.length, 'access rule')}: each gives a user, a group or a service account a role in a scope and in everything below it.`}>
              {maySomewhere('access_rules:create') && <MainLink text="New access rule" where={here({ new: 'rule', open: '' })} />}
            </AccessHead>
            <AccessPanel title="Access rules" label="Filter by subject, role or scope">
              {!data.rules.length ? <Empty title="No access rules" text="Users who sign in see nothing until an access rule gives them a role." />
                : rows.length ? <Table label="Access rules" rows={rows} columns={columns(names)} idOf={(rule) => String(rule.id)} /> : <NoMatch />}
            </AccessPanel>
            <RuleDrawer data={data} />
          </>
        );
      }}
    </Body>
  );
}
