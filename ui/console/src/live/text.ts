// SPDX-License-Identifier: Apache-2.0

/* Codes and figures of the cluster in the words of the command line. */
import { amountText } from '../text/format';

/** "0.5 GPU", "1 GPU", "4 GPUs" */
export function gpuText(value: number): string {
  return `${amountText(value)} ${value > 0 && value <= 1 ? 'GPU' : 'GPUs'}`;
}

/** A quota or a limit; -1 is unlimited. */
export function boundText(value: number): string {
  return value < 0 ? 'unlimited' : amountText(value);
}

/** "NVIDIA-H100-80GB-HBM3" as "H100 80GB" */
export function modelText(model: string): string {
  return model.replace(/^(NVIDIA|Tesla)-/, '').split('-').slice(0, 2).join(' ') || 'GPU';
}

const UNITS = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'];

/** A quantity of memory in the largest unit that leaves at least one: "1056Gi" as "1.03 TiB", "81559Mi" as "79.6 GiB". */
export function memoryText(quantity: string): string {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([KMGTP]i)?$/.exec(quantity) ?? [];
  if (number === undefined) return quantity;
  let value = Number(number) / (unit ? 1 : 1024);
  let at = unit ? UNITS.indexOf(unit) : 0;
  for (; value >= 1024 && at < UNITS.length - 1; at++) value /= 1024;
  return `${value.toLocaleString('en', { maximumSignificantDigits: 4 })} ${UNITS[at]!}B`;
}

/** A message as a sentence: with a capital letter and one full stop. */
export function sentence(text: string): string {
  const first = text.trim().replace(/[.\s]+$/, '');
  return first && `${first[0]!.toUpperCase()}${first.slice(1)}.`;
}

/** "a, b and 3 more" */
export function fewText(names: string[], most = 3): string {
  return names.length > most ? `${names.slice(0, most - 1).join(', ')} and ${names.length - most + 1} more` : names.join(', ');
}

/** The answer to "why does it wait", by the code of the verdict. */
const REASONS: Record<string, string> = {
  promised: 'Its place is being cleared.',
  not_ready: 'Some of its pods do not exist yet.',
  no_queue: 'Its queue does not exist.',
  queue_not_leaf: 'Its queue has child queues, and takes no workloads itself.',
  over_limit: 'Its queue would exceed its limit.',
  over_quota: 'It is not preemptible, and its queue would exceed its quota.',
  over_fair_share: 'No room, and its queue would exceed its fair share.',
  too_large: 'No node is that large.',
  no_node_allowed: 'No node is eligible.',
  no_room: 'No room on the eligible nodes.',
  no_victims: 'No room, and preempting others would not free enough.',
  missing_volume: 'A volume that it needs is missing.',
  missing_config_map: 'A ConfigMap that it needs is missing.',
  missing_claim: 'A resource claim that it needs is missing.',
  no_topology: 'The topology that it names does not exist.',
  topology_full: 'There is room, but not within one domain of the required topology level.',
  preemption_delay: 'It may not preempt other workloads yet.',
  search_limit: 'The search for workloads to preempt ended at its limit.',
  queue_depth: 'Many workloads of its queue are ahead of it.',
  other_scheduler: 'Another scheduler places it.',
};

/** A code that is not in the table comes from a newer server, and is shown as it is. */
export function reasonTitle(code: string): string {
  return REASONS[code] ?? sentence(code.replaceAll('_', ' '));
}

/** Why a workload that stands in the way stays where it is. */
const PROTECTIONS: Record<string, string> = {
  none: 'can be preempted',
  not_preemptible: 'is not preemptible',
  priority: 'has the same or a higher priority',
  own_fair_share: 'is protected: this queue would exceed its fair share',
  in_quota: 'is within the quota of its queue',
  min_runtime: 'is within its minimum run time',
  preemption_delay: 'is protected by the preemption delay',
  no_action: 'no action that preempts is enabled',
  foreign: 'another scheduler has placed it',
};

export function protectionText(code: string): string {
  return PROTECTIONS[code] ?? code.replaceAll('_', ' ');
}

const OUTLOOKS: Record<string, string> = {
  fine: 'It can run.',
  soon: 'It starts as soon as others have left.',
  'not now': 'It waits until others end, or quotas change.',
  'by choice': 'It waits because its own settings ask for it.',
  never: 'It cannot run on this cluster as it is.',
};

export function outlookText(outlook: string): string {
  return OUTLOOKS[outlook] ?? '';
}
