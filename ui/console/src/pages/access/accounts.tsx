// SPDX-License-Identifier: Apache-2.0

/* Service accounts: programs that can sign in. */
import { call, get, REST } from '../../api/client';
import { readRules } from '../../api/lists';
import { may } from '../../api/session';
import type { Account, Rule } from '../../api/types';
import { ActionRow } from '../../parts/action';
import { askFirst, showSecret } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, type Values } from '../../parts/form';
import { Body, MainLink } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { Mark, RowLink, Table, type Column } from '../../parts/table';
import { Facts } from '../../parts/text';
import { go, here, param } from '../../state/address';
import { refresh, useRead } from '../../state/read';
import { say } from '../../state/say';
import { countText, matches, timeText } from '../../text/format';
import { plain } from '../../text/plain';
import { AccessHead, AccessPanel, Roles, RolesCell, rulesOf, TITLE } from './access';

interface Data {
  accounts: Account[];
  rules: Rule[] | null;
}

async function load(): Promise<Data> {
  const [accounts, rules] = await Promise.all([get<Account[]>(`${REST}/service-accounts`), readRules()]);
  return { accounts: accounts.toSorted((a, b) => a.name.localeCompare(b.name)), rules };
}

function columns(rules: Rule[] | null): Column<Account>[] {
  return [
    { head: 'Service account', isName: true, cell: (account) => <RowLink name={account.name} id={account.id} /> },
    { head: 'State', cell: ({ enabled }) => <Mark icon={enabled ? 'disc' : 'square'} tone={enabled ? 'good' : 'dim'} text={enabled ? 'enabled' : 'disabled'} /> },
    { head: 'Roles', isNumber: true, cell: (account) => <RolesCell rules={rules} subject={account.id} /> },
    { head: 'Created by', isWide: true, className: 'fill', cell: (account) => account.createdBy },
    { head: 'Created', isWide: true, isNumber: true, cell: (account) => timeText(account.createdAt) },
    { head: 'Last sign-in', isWide: true, isNumber: true, cell: (account) => (account.lastLogin ? timeText(account.lastLogin) : 'never') },
  ];
}

function showAccountSecret({ name, clientId, clientSecret }: { name: string; clientId: string; clientSecret?: string }): void {
  showSecret(`Secret of ${plain(name)}`, `The client ID is ${plain(clientId)}.`, clientSecret!);
}

function NewAccount() {
  const send = (values: Values): Promise<Account> => call('POST', `${REST}/service-accounts`, { name: values.text('name') });
  const done = async (made: Account): Promise<void> => {
    go(here({ new: '', open: made.id }));
    await refresh();
    showAccountSecret(made);
  };
  return (
    <Drawer key="new" title="New service account">
      <Form save="Create the service account" send={send} done={done}>
        <Field path="name" label="Name" hint={'Lower-case letters, digits, "-" and "_". It is the client ID.'} isRequired />
      </Form>
    </Drawer>
  );
}

function askToDelete(account: Account, rules: number): void {
  askFirst({
    title: `Delete ${plain(account.name)}?`, text: 'This cannot be undone. It deletes:', save: 'Delete the service account',
    facts: ['the service account, whose tokens end at once', `${countText(rules, 'access rule')} of it`],
    act: async () => {
      await call('DELETE', `${REST}/service-accounts/${account.id}`);
      say(`${account.name} was deleted.`);
      leaveDrawer();
      await refresh();
    },
  });
}

function Actions({ account, rules }: { account: Account; rules: Rule[] | null }) {
  const path = `${REST}/service-accounts/${account.id}`;
  const { enabled } = account;
  if (!may('service-account:update') && !may('service-account:delete')) return null;
  const renew = async (): Promise<void> => {
    const { clientSecret } = await call<Account>('POST', `${path}/secret`);
    showAccountSecret({ ...account, clientSecret: clientSecret! });
  };
  const turn = async (): Promise<void> => {
    await call('PATCH', path, { enabled: !enabled });
    say(`${account.name} is ${enabled ? 'disabled' : 'enabled'}.`);
    await refresh();
  };
  return (
    <section class="drawer-part">
      <h3>Account</h3>
      {may('service-account:update') && <ActionRow text="New secret" hint="The old secret and all tokens end at once." act={renew} />}
      {may('service-account:update') && <ActionRow text={enabled ? 'Disable' : 'Enable'} hint={enabled ? 'Its tokens end at once.' : 'It can sign in again.'} act={turn} />}
      {may('service-account:delete') && <ActionRow text="Delete" hint="With its access rules." act={() => askToDelete(account, rulesOf(rules, account.id).length)} tone="quiet bad" />}
    </section>
  );
}

function AccountDrawer({ accounts, rules }: Data) {
  if (param('new') === 'account' && may('service-account:create')) return <NewAccount />;
  const account = accounts.find((one) => one.id === param('open'));
  if (!account) return null;
  return (
    <Drawer key={account.id} title={account.name} row={account.id}>
      <Facts pairs={[
        ['Client ID', <code>{plain(account.clientId)}</code>], ['State', account.enabled ? 'enabled' : 'disabled'], ['Last sign-in', account.lastLogin ? timeText(account.lastLogin) : 'never'],
        ['Created', `${timeText(account.createdAt)} by ${account.createdBy}`],
      ]} />
      <Roles rules={rules} subject={account.id} kind="service-account" />
      <Actions account={account} rules={rules} />
    </Drawer>
  );
}

function Example() {
  const body = '{"grantType": "client_credentials", "clientID": "robot", "clientSecret": "..."}';
  return <pre><code>{`curl -s ${location.origin}/api/v1/token -H 'Content-Type: application/json' -d '${body}'`}</code></pre>;
}

export default function Accounts() {
  const read = useRead('accounts', load, { topics: ['access'] });
  return (
    <Body title={TITLE} read={read}>
      {({ accounts, rules }) => {
        const rows = accounts.filter((account) => matches(param('q'), account.name));
        return (
          <>
            <AccessHead lead={`${countText(accounts.length, 'service account')} for programs, which sign in with a secret.`}>
              {may('service-account:create') && <MainLink text="New service account" where={here({ new: 'account', open: '' })} />}
            </AccessHead>
            <AccessPanel title="Service accounts" label="Filter by name">
              {!accounts.length ? <Empty title="No service accounts yet" text="A program asks for a token with the secret of its service account, and sends it with each request."><Example /></Empty>
                : rows.length ? <Table label="Service accounts" rows={rows} columns={columns(rules)} idOf={(account) => account.id} /> : <NoMatch />}
            </AccessPanel>
            <AccountDrawer accounts={accounts} rules={rules} />
          </>
        );
      }}
    </Body>
  );
}
