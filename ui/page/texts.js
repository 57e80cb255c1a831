/* Texts of the page that are made from numbers and codes. */

/* Sets a text only when it differs, so that nothing is drawn or read out again. */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/* "4", "0.5", "1.33" */
function amount(number) {
  return (Math.round(number * 100) / 100).toLocaleString('en');
}

/* "0.5 GPU", "1 GPU", "4 GPUs" */
function gpuText(number) {
  return `${amount(number)} ${number > 0 && number <= 1 ? 'GPU' : 'GPUs'}`;
}

/* "1 workload", "3 workloads" */
function countText(number, noun) {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/* A quota or a limit; -1 is unlimited. */
function boundText(number) {
  return number < 0 ? 'unlimited' : amount(number);
}

function elapsedText(milliseconds) {
  return formatSeconds(Math.max(0, Math.floor(milliseconds / 1000)));
}

/* In the zone of whoever looks. */
function clockText(time) {
  return new Date(time).toLocaleTimeString('en-GB');
}

/* "NVIDIA-H100-80GB-HBM3" as "H100 80GB" */
function modelText(model) {
  return (model || '').replace(/^(NVIDIA|Tesla)-/, '').split('-').slice(0, 2).join(' ') || 'GPU';
}

function sentenceText(text) {
  const first = (text || '').trim().replace(/[.\s]+$/, '');
  return first && `${first[0].toUpperCase()}${first.slice(1)}.`;
}

/* The answer to "why does it wait", by the code of the verdict. */
const REASON_TITLES = {
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
  topology_too_small: 'No domain of the required topology level is that large.',
  preemption_delay: 'It may not preempt other workloads yet.',
  search_limit: 'The search for workloads to preempt ended at its limit.',
  queue_depth: 'Many workloads of its queue are ahead of it.',
  other_scheduler: 'Another scheduler places it.',
};

/* What keeps a workload that stands in the way where it is. */
const PROTECTIONS = {
  none: 'can be preempted', not_preemptible: 'is not preemptible', priority: 'has the same or a higher priority',
  own_fair_share: 'is protected: this queue would exceed its fair share', in_quota: 'is within the quota of its queue',
  min_runtime: 'is within its minimum run time', preemption_delay: 'is protected by the preemption delay',
  no_action: 'no action that preempts is enabled', foreign: 'another scheduler has placed it',
};

function protectionText(code) {
  return PROTECTIONS[code] || (code || '').replaceAll('_', ' ');
}

const OUTLOOKS = {
  fine: 'It can run.', soon: 'It starts as soon as others have left.', 'not now': 'It waits until others end, or quotas change.',
  'by choice': 'It waits because its own settings ask for it.', never: 'It cannot run on this cluster as it is.',
};
