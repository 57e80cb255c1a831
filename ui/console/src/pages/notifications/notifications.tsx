// SPDX-License-Identifier: Apache-2.0

/* Notifications: channels, and a table of what each of them is told. */
import { get, OURS } from '../../api/client';
import { readUnits, scopeKey, scopeText, type Units } from '../../api/scopes';
import { may } from '../../api/session';
import { FilterBox } from '../../parts/filter';
import { Icon } from '../../parts/icon';
import { Body, Head, MainLink, Panel } from '../../parts/page';
import { Empty, NoMatch } from '../../parts/states';
import { RowLink, Table, type Column } from '../../parts/table';
import { here, param } from '../../state/address';
import { useRead } from '../../state/read';
import { countText, matches } from '../../text/format';
import { plain } from '../../text/plain';
import { ChannelDrawer, StateMark, TYPES, type Channel } from './channel';
import { EVENTS, groupsOf, isTold } from './events';
import './notifications.css';

const TITLE = 'Notifications';

interface Data {
  channels: Channel[];
  units: Units;
}

async function load(): Promise<Data> {
  const [channels, units] = await Promise.all([get<Channel[]>(`${OURS}/notification-channels`), readUnits()]);
  return { channels: channels.toSorted((a, b) => a.name.localeCompare(b.name)), units };
}

function targetOf(channel: Channel): string {
  return channel.type === 'mail' ? channel.mail!.to.join(', ') : channel.type === 'webhook' ? channel.url ?? '' : 'an incoming webhook';
}

function columns(units: Units): Column<Channel>[] {
  return [
    { head: 'Name', isName: true, cell: (channel) => <RowLink name={channel.name} id={channel.name} /> },
    { head: 'Kind', cell: (channel) => TYPES.find(([type]) => type === channel.type)?.[1] ?? channel.type },
    { head: 'To', className: 'fill', isWide: true, cell: targetOf },
    { head: 'About', isWide: true, cell: (channel) => scopeText(scopeKey(channel), units) },
    { head: 'Told of', isWide: true, cell: (channel) => groupsOf(channel.events).map((group) => group.title.toLowerCase()).join(', ') },
    { head: 'Newest notice', className: 'note', cell: (channel) => <StateMark channel={channel} /> },
  ];
}

/** Who is told what. */
function Matrix({ channels }: { channels: Channel[] }) {
  return (
    <div class="scroll">
      <table class="matrix" aria-label="What each channel is told">
        <thead><tr><th scope="col">When</th>{channels.map((one) => <th key={one.name} scope="col">{plain(one.name)}</th>)}</tr></thead>
        {EVENTS.map((group) => (
          <tbody key={group.event}>
            <tr class="group"><th scope="rowgroup" colSpan={channels.length + 1}>{group.event === 'workload' ? 'A workload' : 'Somebody changes'}</th></tr>
            {group.details.map(([detail, text]) => (
              <tr key={detail}>
                <th scope="row">{text}</th>
                {channels.map((one) => <td key={one.name}>{isTold(one.events, group, detail) ? <span role="img" aria-label="yes"><Icon name="tick" tone="good" /></span> : <span class="zero">–</span>}</td>)}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

export default function Notifications() {
  const read = useRead('channels', load, { each: 5000 });
  return (
    <Body title={TITLE} read={read}>
      {({ channels, units }) => {
        const rows = channels.filter((channel) => matches(param('q'), channel.name, channel.type, targetOf(channel)));
        return (
          <>
            <Head title={TITLE} lead={`${countText(channels.length, 'channel')}. A channel tells people outside of this page what happens: by a webhook, in Slack or by mail.`}>
              {may('security-settings:create') && <MainLink text="New channel" where={here({ new: 'channel', open: '' })} />}
            </Head>
            <div class="columns">
              <Panel id="channels" title="Channels" tools={<FilterBox label="Filter by name, kind or address" />}>
                {!channels.length ? <Empty title="Nobody is told yet" text="A channel tells a program, a Slack channel or people by mail when a workload starts, fails or waits, and what others change." />
                  : rows.length ? <Table label="Channels" rows={rows} columns={columns(units)} idOf={(channel) => channel.name} /> : <NoMatch />}
              </Panel>
              {channels.length > 0 && <Panel id="matrix" title="Who is told what"><Matrix channels={channels} /></Panel>}
            </div>
            <ChannelDrawer channels={channels} units={units} />
          </>
        );
      }}
    </Body>
  );
}
