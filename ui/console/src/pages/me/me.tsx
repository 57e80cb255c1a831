// SPDX-License-Identifier: Apache-2.0

/* One's own page: the theme, what one may do where, and access keys for programs. */
import { call, get, REST } from '../../api/client';
import { me } from '../../api/session';
import type { Rule } from '../../api/types';
import { askForPassword } from '../../frame/chrome';
import { askFirst, showSecret } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { ActionRow } from '../../parts/action';
import { Segments } from '../../parts/filter';
import { Field, Form, type Values } from '../../parts/form';
import { Body, Head, MainLink, Panel } from '../../parts/page';
import { Empty } from '../../parts/states';
import { RowLink, Table, type Column } from '../../parts/table';
import { Facts } from '../../parts/text';
import { go, here, param } from '../../state/address';
import { refresh, useRead } from '../../state/read';
import { say } from '../../state/say';
import { chooseTheme, theme, THEMES } from '../../state/theme';
import { timeText } from '../../text/format';
import { plain } from '../../text/plain';

const TITLE = 'You';

interface Key { id: string; name: string; clientId: string; clientSecret?: string; createdAt: string; lastLogin?: string | null }
interface Data { keys: Key[]; rules: Rule[] }

async function load(): Promise<Data> {
  const [{ accessKeys }, { accessRules }] = await Promise.all([get<{ accessKeys: Key[] }>(`${REST}/access-keys`), get<{ accessRules: { accessRules: Rule[] } }>(`${REST}/authorization/me/access-rules?limit=500`)]);
  return { keys: accessKeys.toSorted((a, b) => a.name.localeCompare(b.name)), rules: accessRules.accessRules.toSorted((a, b) => a.roleName.localeCompare(b.roleName) || a.id - b.id) };
}

const COLUMNS: Column<Key>[] = [
  { head: 'Name', isName: true, cell: (key) => <RowLink name={key.name} id={key.id} /> },
  { head: 'Client ID', className: 'fill', isWide: true, cell: (key) => key.clientId },
  { head: 'Created', isWide: true, isNumber: true, cell: (key) => timeText(key.createdAt) },
  { head: 'Last sign-in', isNumber: true, cell: (key) => (key.lastLogin ? timeText(key.lastLogin) : 'never') },
];

const RULES: Column<Rule>[] = [
  { head: 'Role', isName: true, cell: (rule) => rule.roleName },
  { head: 'Scope', className: 'fill', cell: (rule) => (rule.scopeType === 'tenant' ? 'everything' : `${rule.scopeType} ${rule.scopeName}`) },
  { head: 'Since', isWide: true, isNumber: true, cell: (rule) => timeText(rule.createdAt) },
];

function showKeySecret({ name, clientId, clientSecret }: Key): void {
  showSecret(`Secret of ${plain(name)}`, `The client ID is ${plain(clientId)}.`, clientSecret!);
}

function NewKey() {
  const done = async (made: Key): Promise<void> => {
    go(here({ new: '', open: made.id }));
    await refresh();
    showKeySecret(made);
  };
  return (
    <Drawer title="New access key">
      <Form save="Create the access key" send={(values: Values) => call<Key>('POST', `${REST}/access-keys`, { name: values.text('name') })} done={done}>
        <Field path="name" label="Name" hint="A program that has the key may do what you may." isRequired />
      </Form>
    </Drawer>
  );
}

function KeyDrawer({ keys }: { keys: Key[] }) {
  if (param('new') === 'key') return <NewKey key="new" />;
  const key = keys.find((one) => one.id === param('open'));
  if (!key) return null;
  const renew = async (): Promise<void> => {
    const { clientSecret } = await call<Key>('POST', `${REST}/access-keys/${key.id}/secret`);
    showKeySecret({ ...key, clientSecret: clientSecret! });
  };
  const askToDelete = (): void => askFirst({
    title: `Delete ${plain(key.name)}?`, text: 'This cannot be undone. Programs that have the key are refused at once.', save: 'Delete the access key',
    act: async () => {
      await call('DELETE', `${REST}/access-keys/${key.id}`);
      say(`${key.name} was deleted.`);
      leaveDrawer();
      await refresh();
    },
  });
  return (
    <Drawer key={key.id} title={key.name} row={key.id}>
      <Facts pairs={[['Client ID', <code>{plain(key.clientId)}</code>], ['Created', timeText(key.createdAt)], ['Last sign-in', key.lastLogin ? timeText(key.lastLogin) : 'never']]} />
      <section class="drawer-part">
        <ActionRow text="New secret" hint="The old secret and its tokens end at once." act={renew} />
        <ActionRow text="Delete" hint="Programs that have it are refused." act={askToDelete} tone="quiet bad" />
      </section>
    </Drawer>
  );
}

const THEME_NAMES = { system: 'As the system', light: 'Light', dark: 'Dark' };

export default function Me() {
  const read = useRead('me', load, { topics: ['access'] });
  const isUser = me.value!.type === 'user';
  return (
    <Body title={TITLE} read={read}>
      {({ keys, rules }) => (
        <>
          <Head title={TITLE} lead={plain(me.value!.name)}>{isUser && <MainLink text="New access key" where={here({ new: 'key', open: '' })} />}</Head>
          <div class="columns">
            <Panel id="look" title="This browser" tools={<Segments label="Theme" choices={THEMES.map((one) => ({ text: THEME_NAMES[one], act: () => chooseTheme(one), isOn: theme.value === one }))} />} />
            <Panel id="rules" title="What you may do" tools={isUser && <button type="button" class="button" onClick={askForPassword}>Change your password</button>}>
              {rules.length ? <Table label="Your roles" rows={rules} columns={RULES} idOf={(rule) => String(rule.id)} />
                : <Empty title="No role yet" text="An administrator can give you one by an access rule." />}
            </Panel>
            <Panel id="keys" title="Access keys">
              {keys.length ? <Table label="Access keys" rows={keys} columns={COLUMNS} idOf={(key) => key.id} />
                : <Empty title="No access keys yet" text="A program with an access key of yours signs in without your password, and may do what you may." />}
            </Panel>
          </div>
          <KeyDrawer keys={keys} />
        </>
      )}
    </Body>
  );
}
