// SPDX-License-Identifier: Apache-2.0

/* What can be done to a workload. What was submitted past the console is changed past it: by the commands that are shown. */
import { may, me } from '../../api/session';
import { asked, findSubmitted, intend, type Verb } from '../../live/intents';
import type { WorkloadRow } from '../../live/rows';
import { Copy } from '../../parts/copy';
import { Icon, type IconName } from '../../parts/icon';
import { useRead } from '../../state/read';
import { shellWord as word } from '../../text/shell';

const VERBS: [Verb, string, IconName][] = [['suspend', 'Suspend', 'stop'], ['resume', 'Resume', 'run'], ['delete', 'Delete', 'trash']];
const ENDED = ['Completed', 'Failed', 'Cancelled', 'Terminating'];

function commands(row: WorkloadRow): string {
  const name = `-n ${word(row.namespace)} ${word(row.name)}`;
  if (row.kind !== 'Job') return `kubectl delete ${word(row.kind.toLowerCase())} ${name}`;
  if (ENDED.includes(row.state)) return `muster cancel ${name}`;
  return row.state === 'Suspended' ? `muster resume ${name}\nmuster cancel ${name}` : `muster suspend ${name}\nmuster cancel ${name}`;
}

export function Actions({ row }: { row: WorkloadRow }) {
  const read = useRead(`submitted ${row.id}`, () => findSubmitted(row), { topics: ['workloads'], gather: 1000 });
  const found = read.data;
  const pending = asked.value.get(row.id);
  const isAllowed = me.value && (['workspaces', 'trainings', 'workloads'].some((kind) => may(`${kind}:update`)) || found?.submittedBy === me.value.name);
  if (!found) return <details class="commands"><summary>Commands</summary><Copy text={commands(row)} /></details>;
  if (!isAllowed) return null;
  const isShown = (verb: Verb): boolean => {
    if (verb === 'delete') return found.actionsSupport?.delete !== false;
    if (ENDED.includes(row.state)) return false;
    return row.state === 'Suspended' ? verb === 'resume' : verb === 'suspend' && found.actionsSupport?.suspend !== false;
  };
  return (
    <p class="actions">
      {VERBS.filter(([verb]) => isShown(verb)).map(([verb, text, icon]) => (
        <button key={verb} type="button" class="button" disabled={pending !== undefined} onClick={() => intend(verb, found.id, row)}><Icon name={icon} />{text}</button>
      ))}
    </p>
  );
}
