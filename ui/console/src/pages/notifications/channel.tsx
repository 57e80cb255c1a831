// SPDX-License-Identifier: Apache-2.0

/* One notification channel in the drawer, or a new one. */
import { useState } from 'preact/hooks';
import { call, OURS } from '../../api/client';
import { scopeBody, scopeKey, scopesFor, scopeText, type Units } from '../../api/scopes';
import { may } from '../../api/session';
import { ActionRow } from '../../parts/action';
import { askFirst, showSecret } from '../../parts/dialog';
import { Drawer, leaveDrawer } from '../../parts/drawer';
import { Field, Form, Tick, type Values } from '../../parts/form';
import { Icon } from '../../parts/icon';
import { Mark } from '../../parts/table';
import { Facts } from '../../parts/text';
import { go, here, param } from '../../state/address';
import { refresh } from '../../state/read';
import { say } from '../../state/say';
import { plain } from '../../text/plain';
import { EVENTS, groupsOf, isWhole, type EventGroup } from './events';

export interface Channel {
  name: string;
  type: ChannelType;
  events: string[];
  scope: string;
  departmentId?: string;
  projectId?: string | number;
  url?: string;
  mail?: { host: string; port: number; tls: string; from: string; to: string[]; username?: string; password?: string };
  /** Of the newest notice; there is none before the first one. */
  state?: string;
  problem?: string;
  /** Told once, when the channel is created. */
  secret?: string;
}

type ChannelType = 'webhook' | 'slack' | 'mail';

export const TYPES: [ChannelType, string][] = [['webhook', 'Webhook'], ['slack', 'Slack'], ['mail', 'Mail']];
const TLS: [string, string][] = [['starttls', 'STARTTLS'], ['tls', 'TLS from the start'], ['none', 'none: listed networks only']];
const MAIL_PORT = 587;

export function StateMark({ channel }: { channel: Channel }) {
  if (channel.state === 'failing' || channel.problem) return <Mark icon="triangle" tone="warn" text="not delivered" title={channel.problem} />;
  return channel.state ? <Mark icon="tick" tone="good" text="delivered" /> : <Mark icon="square" tone="dim" text="nothing sent yet" />;
}

/** What a channel is told: whole groups, or single details of them. */
function EventFields({ events }: { events: string[] }) {
  return (
    <>
      {EVENTS.map((group) => (
        <fieldset class="ticks" key={group.event}>
          <legend>{group.title}</legend>
          <Tick path={`events.${group.event}`} text={group.all} isTicked={isWhole(events, group)} />
          <div class="details">{group.details.map(([detail, text]) => <Tick key={detail} path={`events.${group.event}:${detail}`} text={text} isTicked={events.includes(`${group.event}:${detail}`)} />)}</div>
        </fieldset>
      ))}
    </>
  );
}

/** Those of a group stand for its details; what the form does not know stays. */
function readEvents(values: Values, before: string[]): string[] {
  const known = (event: string): boolean => EVENTS.some((group) => event === group.event || group.details.some(([detail]) => event === `${group.event}:${detail}`));
  const ticked = values.ticks().filter((path) => path.startsWith('events.')).map((path) => path.slice(7));
  const isCovered = (event: string): boolean => event.includes(':') && ticked.includes(event.split(':')[0]!);
  return [...ticked.filter((event) => !isCovered(event)), ...before.filter((event) => !known(event))];
}

function MailFields({ mail, isReadonly }: { mail: Channel['mail']; isReadonly: boolean }) {
  return (
    <>
      <div class="two">
        <Field path="mail.host" label="Mail server" value={mail?.host} placeholder="smtp.example.com" isReadonly={isReadonly} isRequired={!isReadonly} />
        <Field path="mail.port" label="Port" value={mail?.port ?? MAIL_PORT} mode="numeric" isReadonly={isReadonly} />
      </div>
      <Field path="mail.tls" label="Encryption" options={TLS} value={mail?.tls ?? 'starttls'} isReadonly={isReadonly} />
      <Field path="mail.from" label="From" value={mail?.from} placeholder="muster@example.com" isReadonly={isReadonly} isRequired={!isReadonly} />
      <Field path="mail.to" label="To" value={mail?.to.join(', ')} placeholder="team@example.com" hint="Several addresses are separated by commas." isReadonly={isReadonly} isRequired={!isReadonly} />
      <div class="two">
        <Field path="mail.username" label="User" value={mail?.username} hint="Where the server asks for one" isReadonly={isReadonly} />
        {!isReadonly && <Field path="mail.password" label="Password" kind="password" value={mail ? mail.password : ''} complete="new-password" hint={mail ? 'The stars stand for the password that is there.' : ''} />}
      </div>
    </>
  );
}

function TargetFields({ type, channel, isReadonly }: { type: ChannelType; channel: Channel | null; isReadonly: boolean }) {
  if (type === 'mail') return <MailFields mail={channel?.mail} isReadonly={isReadonly} />;
  if (type === 'slack' && isReadonly) return null;
  const hint = type === 'slack' ? 'The address of an incoming webhook. It is kept encrypted and not shown again.' : 'Each notice is signed with a secret that is shown once.';
  return <Field path="url" label="Address" value={channel?.url} placeholder={type === 'slack' ? 'https://hooks.slack.com/services/…' : 'https://hooks.example.com/muster'} hint={hint} isReadonly={isReadonly} isRequired={!isReadonly} />;
}

function bodyOf(values: Values, type: ChannelType, scope: string, before: string[]): unknown {
  const body = { type, ...scopeBody(scope), events: readEvents(values, before) };
  if (type !== 'mail') return { ...body, url: values.text('url') };
  const port = values.text('mail.port');
  return {
    ...body,
    mail: {
      host: values.text('mail.host'), port: Number.isFinite(Number(port)) ? Number(port || MAIL_PORT) : port, tls: values.raw('mail.tls'), from: values.text('mail.from'),
      to: values.text('mail.to').split(',').map((one) => one.trim()).filter(Boolean), username: values.text('mail.username'), password: values.raw('mail.password'),
    },
  };
}

function NewChannel({ units }: { units: Units }) {
  const scopes = scopesFor('security-settings:create', units);
  const [type, setType] = useState<ChannelType>('webhook');
  const send = (values: Values): Promise<Channel> => call('POST', `${OURS}/notification-channels`, { name: values.text('name'), ...(bodyOf(values, type, values.raw('scope'), []) as object) });
  const done = async (made: Channel): Promise<void> => {
    go(here({ new: '', open: made.name }));
    await refresh();
    if (made.secret) showSecret(`Secret of ${plain(made.name)}`, 'Check the signature of each notice with it.', made.secret);
    else say(`${made.name} was created.`);
  };
  return (
    <Drawer title="New channel">
      <Form save="Create the channel" send={send} done={done}>
        <Field path="type" label="Kind" options={TYPES} value={type} onChange={(value) => setType(value as ChannelType)} />
        <Field path="name" label="Name" hint={'Lower-case letters, digits and "-".'} isRequired />
        <TargetFields key={type} type={type} channel={null} isReadonly={false} />
        <Field path="scope" label="About" options={scopes} value={scopes[0]?.[0]} hint="It is told of that scope and of everything below." />
        <EventFields events={['workload:Failed']} />
      </Form>
    </Drawer>
  );
}

function askToDelete(channel: Channel): void {
  askFirst({
    title: `Delete ${plain(channel.name)}?`, text: 'This cannot be undone. It deletes:', save: 'Delete the channel',
    facts: ['the channel, with its secret', 'the notices that wait for it, which are not sent any more'],
    act: async () => {
      await call('DELETE', `${OURS}/notification-channels/${channel.name}`);
      say(`${channel.name} was deleted.`);
      leaveDrawer();
      await refresh();
    },
  });
}

function ChannelForm({ channel, units }: { channel: Channel; units: Units }) {
  const key = scopeKey(channel);
  const groups = groupsOf(channel.events);
  if (!may('security-settings:update')) {
    return (
      <div class="form">
        <p class="note-line"><Icon name="shield" tone="dim" />You can view channels, but not change them.</p>
        <TargetFields type={channel.type} channel={channel} isReadonly />
        <p>{`It is told of ${groups.map((one: EventGroup) => one.title.toLowerCase()).join(' and ')}.`}</p>
      </div>
    );
  }
  const path = `${OURS}/notification-channels/${channel.name}`;
  const done = async (): Promise<void> => {
    say(`${channel.name} was saved.`);
    leaveDrawer();
    await refresh();
  };
  const more = may('security-settings:delete') && <><span class="grow" /><button type="button" class="button quiet bad" onClick={() => askToDelete(channel)}>Delete</button></>;
  return (
    <Form save="Save" send={(values: Values) => call('PUT', path, bodyOf(values, channel.type, values.raw('scope'), channel.events))} done={done} more={more}>
      <TargetFields type={channel.type} channel={channel} isReadonly={false} />
      <Field path="scope" label="About" options={scopesFor('security-settings:update', units)} value={key} />
      <EventFields events={channel.events} />
    </Form>
  );
}

/** What the address names, if it names something. */
export function ChannelDrawer({ channels, units }: { channels: Channel[]; units: Units }) {
  if (param('new') === 'channel' && may('security-settings:create')) return <NewChannel key="new" units={units} />;
  const name = param('open');
  if (!name) return null;
  const channel = channels.find((one) => one.name === name);
  if (!channel) return <Drawer key="gone" title="Not here"><p class="dim">There is no channel of this name. It may have been deleted.</p></Drawer>;
  const test = async (): Promise<void> => {
    await call('POST', `${OURS}/notification-channels/${channel.name}/test`);
    say('A test is on its way.');
    await refresh();
  };
  return (
    <Drawer key={name} title={channel.name} row={name}>
      <ChannelForm channel={channel} units={units} />
      <Facts pairs={[
        ['Kind', TYPES.find(([type]) => type === channel.type)?.[1] ?? channel.type], ['About', scopeText(scopeKey(channel), units)],
        ['Newest notice', <StateMark channel={channel} />], ['Problem', channel.problem],
      ]} />
      {may('security-settings:update') && <section class="drawer-part"><ActionRow text="Send a test" hint="Whether it arrived is shown here." act={test} /></section>}
    </Drawer>
  );
}
