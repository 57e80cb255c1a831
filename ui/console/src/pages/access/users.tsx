// SPDX-License-Identifier: Apache-2.0

/* Users: people who can sign in. */
import { call, get, REST } from '../../api/client';
import { readRules } from '../../api/lists';
import { may, me } from '../../api/session';
import type { Rule, User } from '../../api/types';
import { ActionRow } from '../../parts/action';
import { askFirst, showSecret } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, Tick, type Values } from '../../parts/form';
import { Body, MainLink } from '../../parts/page';
import { NoMatch } from '../../parts/states';
import { RowLink, Table, type Column } from '../../parts/table';
import { Facts } from '../../parts/text';
import { go, here, param } from '../../state/address';
import { refresh, useRead } from '../../state/read';
import { say } from '../../state/say';
import { countText, matches, timeText } from '../../text/format';
import { plain } from '../../text/plain';
import { AccessHead, AccessPanel, Roles, RolesCell, rulesOf, TITLE } from './access';

interface Data {
  users: User[];
  rules: Rule[] | null;
}

async function load(): Promise<Data> {
  const [users, rules] = await Promise.all([get<User[]>(`${REST}/users?limit=500`), readRules()]);
  return { users: users.toSorted((a, b) => a.username.localeCompare(b.username)), rules };
}

function signInText(user: User): string {
  return user.isLocal ? 'with a password' : `at ${user.idpAlias || user.idp || 'an identity provider'}`;
}

function columns(rules: Rule[] | null): Column<User>[] {
  return [
    { head: 'User', isName: true, cell: (user) => <RowLink name={user.username} id={user.id}>{user.id === me.value!.id && <small>you</small>}</RowLink> },
    { head: 'Signs in', isWide: true, cell: signInText },
    { head: 'Groups', isWide: true, className: 'fill', cell: (user) => user.groups?.join(', ') || '–' },
    { head: 'Own roles', isNumber: true, cell: (user) => <RolesCell rules={rules} subject={user.id} /> },
    { head: 'Created', isWide: true, isNumber: true, cell: (user) => timeText(user.createdAt) },
    { head: 'Last sign-in', isNumber: true, cell: (user) => (user.lastLogin ? timeText(user.lastLogin) : 'never') },
  ];
}

function NewUser() {
  const send = (values: Values): Promise<User> => call('POST', `${REST}/users`, { email: values.text('email'), resetPassword: values.isTicked('resetPassword') });
  const done = async (made: User): Promise<void> => {
    go(here({ new: '', open: made.id }));
    await refresh();
    showSecret(`Password of ${plain(made.username)}`, 'Give it to the user in a safe way.', made.tempPassword!);
  };
  return (
    <Drawer key="new" title="New user">
      <Form save="Create the user" send={send} done={done}>
        <Field path="email" label="E-mail" kind="email" hint="It is the name to sign in with. No mail is sent." isRequired />
        <Tick path="resetPassword" text="The user chooses a password at the first sign-in" isTicked />
      </Form>
    </Drawer>
  );
}

function askToDelete(user: User, rules: number): void {
  askFirst({
    title: `Delete ${plain(user.username)}?`, text: 'This cannot be undone. It deletes:', save: 'Delete the user',
    facts: ['the user, whose sessions and tokens end at once', 'access keys of the user', `${countText(rules, 'access rule')} of the user`],
    act: async () => {
      await call('DELETE', `${REST}/users/${user.id}`);
      say(`${user.username} was deleted.`);
      leaveDrawer();
      await refresh();
    },
  });
}

function Actions({ user, rules }: { user: User; rules: Rule[] | null }) {
  const path = `${REST}/users/${user.id}`;
  const mayDelete = may('users:delete') && user.id !== me.value!.id;
  if (!may('users:update') && !mayDelete) return null;
  const renew = async (): Promise<void> => {
    const made = await call<{ tempPassword: string }>('POST', `${path}/password`);
    showSecret(`Password of ${plain(user.username)}`, 'Give it to the user in a safe way. At the next sign-in the user chooses another one.', made.tempPassword);
  };
  const signOut = async (): Promise<void> => {
    await call('POST', `${path}/logout`);
    say(`${user.username} is signed out.`);
  };
  return (
    <section class="drawer-part">
      <h3>Account</h3>
      {may('users:update') && user.isLocal && <ActionRow text="New password" hint="Generates a password and ends all sessions of the user." act={renew} />}
      {may('users:update') && <ActionRow text="Sign out everywhere" hint="Ends all sessions and tokens of the user." act={signOut} />}
      {mayDelete && <ActionRow text="Delete" hint="With access keys and access rules." act={() => askToDelete(user, rulesOf(rules, user.id).length)} tone="quiet bad" />}
    </section>
  );
}

function UserDrawer({ users, rules }: Data) {
  if (param('new') === 'user' && may('users:create')) return <NewUser />;
  const user = users.find((one) => one.id === param('open'));
  if (!user) return null;
  return (
    <Drawer key={user.id} title={user.username} row={user.id}>
      <Facts pairs={[
        ['Signs in', signInText(user)], ['Groups', user.groups?.join(', ')], ['Last sign-in', user.lastLogin ? timeText(user.lastLogin) : 'never'],
        ['Created', `${timeText(user.createdAt)} by ${user.createdBy}`],
      ]} />
      <Roles rules={rules} subject={user.id} kind="user" />
      <Actions user={user} rules={rules} />
    </Drawer>
  );
}

export default function Users() {
  const read = useRead('users', load, { topics: ['access'] });
  return (
    <Body title={TITLE} read={read}>
      {({ users, rules }) => {
        const rows = users.filter((user) => matches(param('q'), user.username, ...(user.groups ?? [])));
        return (
          <>
            <AccessHead lead={`${countText(users.length, 'user')}. Access rules for users and their groups decide what they may do.`}>
              {may('users:create') && <MainLink text="New user" where={here({ new: 'user', open: '' })} />}
            </AccessHead>
            <AccessPanel title="Users" label="Filter by e-mail or group">
              {rows.length ? <Table label="Users" rows={rows} columns={columns(rules)} idOf={(user) => user.id} /> : <NoMatch />}
            </AccessPanel>
            <UserDrawer users={users} rules={rules} />
          </>
        );
      }}
    </Body>
  );
}
