// SPDX-License-Identifier: Apache-2.0

/* Settings, sign-in: the identity providers by which people come in. */
import { call, get, REST } from '../../api/client';
import { may } from '../../api/session';
import { askFirst } from '../../parts/dialog';
import { Copy } from '../../parts/copy';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { FilterBox } from '../../parts/filter';
import { Field, Form, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { Body, MainLink, Panel } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { RowLink, Table, type Column } from '../../parts/table';
import { here, param } from '../../state/address';
import { refresh, useRead } from '../../state/read';
import { say } from '../../state/say';
import { countText, matches } from '../../text/format';
import { plain } from '../../text/plain';
import { SettingsHead, TITLE } from './settings';

interface Provider {
  alias: string;
  type: string;
  redirectUri: string;
  oidcData: { clientId: string; clientSecret: string; discoverDocumentUrl: string; scopes?: string[]; mandatoryClaim?: { claim: string; values: string[] } };
  mappers: Record<string, string>;
}

/** The claims that are read, and what they are usually called. */
const MAPPERS: [name: string, label: string, usual: string][] = [
  ['email', 'E-mail', 'email'], ['groups', 'Groups', 'groups'], ['uid', 'User of containers', 'uid'], ['gid', 'Group of containers', 'gid'], ['supplementaryGroups', 'Further groups', 'supplementarygroups'],
];

const COLUMNS: Column<Provider>[] = [
  { head: 'Name', isName: true, cell: (one) => <RowLink name={one.alias} id={one.alias} /> },
  { head: 'Kind', cell: (one) => (one.type === 'oidc' ? 'OpenID Connect' : one.type) },
  { head: 'Discovery document', className: 'fill', isWide: true, cell: (one) => one.oidcData.discoverDocumentUrl },
  { head: 'Client', isWide: true, cell: (one) => one.oidcData.clientId },
];

async function close(text: string): Promise<void> {
  say(text);
  leaveDrawer();
  await refresh();
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

function bodyOf(values: Values): object {
  const claim = values.text('oidcData.mandatoryClaim.claim');
  return {
    type: 'oidc', data: {},
    oidcData: {
      clientId: values.text('oidcData.clientId'), clientSecret: values.raw('oidcData.clientSecret'), discoverDocumentUrl: values.text('oidcData.discoverDocumentUrl'), scopes: words(values.text('oidcData.scopes')),
      ...(claim ? { mandatoryClaim: { claim, values: words(values.text('oidcData.mandatoryClaim.values')) } } : {}),
    },
    mappers: Object.fromEntries(MAPPERS.map(([name]) => [name, values.text(`mappers.${name}`)])),
  };
}

function askToDelete({ alias }: Provider): void {
  askFirst({
    title: `Delete ${plain(alias)}?`, text: 'This cannot be undone.', save: 'Delete the provider',
    facts: ['nobody signs in by it any more', 'the sessions of its users end at once', 'its users stay, with their access rules'],
    act: async () => {
      await call('DELETE', `${REST}/idps/${alias}`);
      await close(`${alias} was deleted.`);
    },
  });
}

function ProviderForm({ provider }: { provider: Provider | null }) {
  const data = provider?.oidcData;
  const isReadonly = !may(provider ? 'security-settings:update' : 'security-settings:create');
  const fields = (
    <>
      {!provider && <Field path="name" label="Name" placeholder="company" hint={'Lower-case letters, digits, "-" and "_". It stands on the button of the sign-in.'} isRequired />}
      <Field path="oidcData.discoverDocumentUrl" label="Discovery document" value={data?.discoverDocumentUrl} placeholder="https://login.example.com/.well-known/openid-configuration" isReadonly={isReadonly} isRequired={!isReadonly} />
      <Field path="oidcData.clientId" label="Client ID" value={data?.clientId} isReadonly={isReadonly} isRequired={!isReadonly} />
      {!isReadonly && <Field path="oidcData.clientSecret" label="Client secret" kind="password" complete="new-password" value={data?.clientSecret} hint={data ? 'The stars stand for the secret that is there.' : ''} isRequired />}
      <details>
        <summary>Claims and scopes</summary>
        <div class="form inner">
          {MAPPERS.map(([name, label, usual]) => <Field key={name} path={`mappers.${name}`} label={label} value={provider ? provider.mappers[name] : usual} placeholder={usual} isReadonly={isReadonly} />)}
          <Field path="oidcData.scopes" label="Scopes" value={data?.scopes?.join(' ')} placeholder="email profile" isReadonly={isReadonly} />
          <Field path="oidcData.mandatoryClaim.claim" label="Claim that everybody needs" value={data?.mandatoryClaim?.claim} placeholder="none" isReadonly={isReadonly} />
          <Field path="oidcData.mandatoryClaim.values" label="with one of the values" value={data?.mandatoryClaim?.values.join(', ')} isReadonly={isReadonly} />
        </div>
      </details>
    </>
  );
  if (isReadonly) return <div class="form"><p class="note-line"><Icon name="shield" tone="dim" />You can view identity providers, but not change them.</p>{fields}</div>;
  const send = (values: Values): Promise<unknown> => (provider ? call('PUT', `${REST}/idps/${provider.alias}`, bodyOf(values)) : call('POST', `${REST}/idps`, { name: values.text('name'), ...bodyOf(values) }));
  const more = provider && may('security-settings:delete') && <><span class="grow" /><button type="button" class="button quiet bad" onClick={() => askToDelete(provider)}>Delete</button></>;
  return (
    <Form save={provider ? 'Save' : 'Create the provider'} send={send} done={() => close(provider ? `${provider.alias} was saved. Its users sign in again.` : 'The provider was created. Try it in a private window before you tell others.')} more={more}>
      {fields}
    </Form>
  );
}

function ProviderDrawer({ providers }: { providers: Provider[] }) {
  if (param('new') === 'provider' && may('security-settings:create')) return <Drawer key="new" title="New identity provider"><ProviderForm provider={null} /></Drawer>;
  const alias = param('open');
  if (!alias) return null;
  const provider = providers.find((one) => one.alias === alias);
  if (!provider) return <Drawer key="gone" title="Not here"><p class="dim">There is no identity provider of this name. It may have been deleted.</p></Drawer>;
  return (
    <Drawer key={alias} title={alias} row={alias}>
      <ProviderForm provider={provider} />
      <section class="drawer-part"><h3>Redirect address</h3><p class="hint">The provider has to allow this address.</p><Copy text={provider.redirectUri} /></section>
    </Drawer>
  );
}

export default function SignIn() {
  const read = useRead('providers', () => get<Provider[]>(`${REST}/idps`), { topics: ['access'] });
  return (
    <Body title={TITLE} read={read}>
      {(providers) => {
        const rows = providers.filter((one) => matches(param('q'), one.alias, one.oidcData.discoverDocumentUrl));
        return (
          <>
            <SettingsHead lead={`${countText(providers.length, 'identity provider')}. People without one sign in with a password of Muster.`}>
              {may('security-settings:create') && <MainLink text="New identity provider" where={here({ new: 'provider', open: '' })} />}
            </SettingsHead>
            <Panel id="providers" title="Identity providers" tools={<FilterBox label="Filter by name or address" />}>
              {!providers.length ? <Empty title="No identity provider yet" text="With an OpenID Connect provider, such as Keycloak, Okta, Entra ID or Dex, people sign in with the company's account, and access rules can name its groups." />
                : rows.length ? <Table label="Identity providers" rows={rows} columns={COLUMNS} idOf={(one) => one.alias} /> : <NoMatch />}
            </Panel>
            <ProviderDrawer providers={providers} />
          </>
        );
      }}
    </Body>
  );
}
