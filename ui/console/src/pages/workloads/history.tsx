// SPDX-License-Identifier: Apache-2.0

/* What has become of a workload: its phases with their times, its attempts, and who has changed it. */
import { get, REST } from '../../api/client';
import { may } from '../../api/session';
import type { AuditEntry } from '../../api/types';
import { findSubmitted } from '../../live/intents';
import type { WorkloadRow } from '../../live/rows';
import { serverNow } from '../../live/store';
import type { PodRow } from '../../live/why';
import { Shape } from '../../parts/state-pill';
import { Outside } from '../../parts/text';
import { now, Time } from '../../parts/time';
import { to } from '../../state/address';
import { useRead } from '../../state/read';
import { durationText } from '../../text/format';
import { phasesOf, type Phase, type Record } from './phases';

const ENDED = ['Completed', 'Failed', 'Stopped'];
const AUDIT_MAX = 20;
const PAST: { [action: string]: string } = { create: 'created it', update: 'changed it', delete: 'deleted it', suspend: 'suspended it', resume: 'resumed it' };

interface Data {
  phases: Phase[];
  /** Null where one may not read them. */
  audit: AuditEntry[] | null;
  name: string;
}

async function read(row: WorkloadRow): Promise<Data | null> {
  const found = await findSubmitted(row);
  if (!found) return null;
  const period = 'start=2000-01-01T00:00:00Z&end=2200-01-01T00:00:00Z';
  const [history, log] = await Promise.all([
    get<{ records: Record[] }>(`${REST}/workloads/${found.id}/history?limit=500`),
    may('events-history:read') ? get<{ audit_logs: AuditEntry[] }>(`${REST}/audit/log?${period}&numberOfSamples=${AUDIT_MAX}&filterBy=${encodeURIComponent(`entity_id==${found.id}`)}`) : null,
  ]);
  return { phases: phasesOf(history.records), audit: log?.audit_logs ?? null, name: found.name };
}

/** A phase of a Run:ai workload by the shape of the state that it is. */
function shapeOf(phase: string): string {
  return phase === 'Stopped' ? 'Suspended' : ['Creating', 'Initializing', 'Resuming', 'Stopping', 'Deleting'].includes(phase) ? 'Preempting' : phase;
}

function Phases({ phases }: { phases: Phase[] }) {
  void now.value;
  return (
    <ol class="events phases">
      {phases.map((phase) => {
        const end = phase.until ? Date.parse(phase.until) : ENDED.includes(phase.name) ? null : serverNow();
        return (
          <li key={phase.since}>
            <Time at={phase.since} />
            <span><span class="phase"><Shape of={shapeOf(phase.name)} /><b><Outside text={phase.name} /></b>{end !== null && ` for ${durationText((end - Date.parse(phase.since)) / 1000)}`}</span>{phase.message && <><br /><Outside class="dim" text={phase.message} /></>}</span>
          </li>
        );
      })}
    </ol>
  );
}

function Attempts({ pods }: { pods: PodRow[] }) {
  if (!pods.length) return <p class="dim">The cluster keeps no pods of it now.</p>;
  return (
    <ol class="events">
      {pods.toSorted((a, b) => b.created.localeCompare(a.created)).map((pod) => (
        <li key={pod.uid || pod.name} class={pod.phase === 'Failed' ? 'warning' : undefined}>
          <Time at={pod.started ?? pod.created} />
          <span><b><Outside text={pod.name} /></b>{pod.node && <> on <a href={to('/nodes', { open: pod.node })}><Outside text={pod.node} /></a></>}{`, ${pod.phase}`}{pod.restarts > 0 && `, restarted ${pod.restarts} times`}{pod.message && <><br /><Outside class="dim" text={pod.message} /></>}</span>
        </li>
      ))}
    </ol>
  );
}

function Changes({ audit, name }: { audit: AuditEntry[]; name: string }) {
  if (!audit.length) return <p class="dim">Nobody has changed it by the console.</p>;
  return (
    <>
      <ol class="events">
        {audit.map((entry) => <li key={entry.id}><Time at={entry.timestamp} /><span><b><Outside text={entry.subject} /></b>{' '}<Outside text={PAST[entry.action] ?? entry.action} />{entry.http_status_code >= 400 && <span class="dim">, which was refused</span>}</span></li>)}
      </ol>
      <p class="foot-note"><a href={to('/audit', { q: name, period: 'all' })}>In the audit log</a></p>
    </>
  );
}

export function History({ row, pods }: { row: WorkloadRow; pods: PodRow[] }) {
  const { data, error } = useRead(`history ${row.id}`, () => read(row), { topics: ['workloads'], gather: 1000 });
  return (
    <>
      {data && <><h3>Phases</h3><Phases phases={data.phases} /></>}
      <h3>Attempts</h3>
      <Attempts pods={pods} />
      {data?.audit && <><h3>Changes</h3><Changes audit={data.audit} name={data.name} /></>}
      {!data && !error && <p class="foot-note">Workloads that were submitted past the console have their attempts here, and no phases.</p>}
    </>
  );
}
