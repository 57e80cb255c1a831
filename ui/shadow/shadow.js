/* The page of muster shadow: where, why and at what gain Muster decides otherwise than the scheduler that runs the cluster. */

const data = JSON.parse(document.getElementById('data').textContent);

const RESULTS = {
  'starts earlier': { kind: 'good', color: 'var(--q2)', help: 'Muster would have started the pod earlier.' },
  'other node': { kind: 'plain', color: 'var(--q0)', help: 'Both start the pod, on nodes that differ in free or total resources.' },
  waits: { kind: 'warn', color: 'var(--q1)', help: 'The other scheduler starts the pod; Muster would not.' },
  evicts: { kind: 'warn', color: 'var(--q3)', help: 'Muster would evict the pod; the other scheduler leaves it running.' },
  spares: { kind: 'good', color: 'var(--q4)', help: 'The other scheduler evicts the pod; Muster would leave it running.' },
};

function tiles(parent) {
  const list = add(parent, 'dl', { class: 'tiles', id: 'tiles' });
  const tile = (title, text, help) => add(list, 'div', { class: 'tile', title: help }, add(null, 'dt', { text: title }), add(null, 'dd', { text }));
  tile('GPU hours earlier', formatNumber(data.gpuSecondsEarlier / 3600), 'By how many GPU hours pods would have run earlier, all together.');
  for (const [name, { help }] of Object.entries(RESULTS)) tile(name[0].toUpperCase() + name.slice(1), formatNumber(data.counts[name]), help);
}

/* Sums by a key of the differences, largest first. */
function sums(list, keyOf, valueOf) {
  const found = new Map();
  for (const one of list) found.set(keyOf(one), (found.get(keyOf(one)) || 0) + valueOf(one));
  return [...found].sort((a, b) => b[1] - a[1]).slice(0, 12);
}

function chart(parent, title, rows, color, format) {
  const panel = add(parent, 'div', { class: 'panel' }, add(null, 'h3', { text: title }));
  if (!rows.length) add(panel, 'p', { class: 'empty', text: 'None.' });
  else barChart(panel, title, rows.map(([name, value]) => ({ name, value, color, text: format(value) })));
}

const of = (result) => data.differences.filter((one) => one.result === result);

function whereSection(parent) {
  const box = section(parent, 'where', 'Where they differ', 'Differences by node of the other scheduler, and by namespace.');
  const halves = add(box, 'div', { class: 'halves' });
  chart(halves, 'By node', sums(data.differences.filter((one) => one.theirNode), (one) => one.theirNode, () => 1), 'var(--q0)', formatNumber);
  chart(halves, 'By namespace', sums(data.differences, (one) => one.namespace, () => 1), 'var(--q5)', formatNumber);
}

function whySection(parent) {
  const box = section(parent, 'why', 'Why they differ', 'Reasons for which Muster would have left pods pending, and actions that would have evicted pods. The verdicts page of the documentation explains each reason.');
  const halves = add(box, 'div', { class: 'halves' });
  chart(halves, 'Pods left pending, by reason', sums(of('waits'), (one) => one.reason, () => 1), RESULTS.waits.color, formatNumber);
  chart(halves, 'Pods evicted, by action', sums(of('evicts'), (one) => one.action, () => 1), RESULTS.evicts.color, formatNumber);
}

function gainSection(parent) {
  const box = section(parent, 'gain', 'What would be gained', 'Pods that Muster would have started earlier: the time by which they waited longer, times their GPUs.');
  const halves = add(box, 'div', { class: 'halves' });
  const seconds = (one) => one.seconds * one.gpus;
  chart(halves, 'GPU time earlier, by namespace', sums(of('starts earlier'), (one) => one.namespace, seconds), RESULTS['starts earlier'].color, formatSeconds);
  chart(halves, 'GPU time earlier, by pod', sums(of('starts earlier'), (one) => one.pod, seconds), RESULTS['starts earlier'].color, formatSeconds);
}

function oursText(one) {
  if (one.result === 'evicts') return one.evictedFor ? `evicted for ${one.evictedFor}` : 'evicted';
  if (one.result === 'spares') return 'keeps running';
  return one.result === 'waits' ? `pending: ${one.reason}` : one.node || '';
}

function theirsText(one) {
  if (one.result === 'evicts') return 'keeps running';
  return one.result === 'spares' ? 'evicted' : one.theirNode || '';
}

function listSection(parent) {
  const box = section(parent, 'list', 'Pod by pod', 'All differences, in the order in which they were found.');
  const rows = data.differences.map((one) => ({
    search: Object.values(one).join(' '),
    cells: [`${one.namespace}/${one.pod}`, { nodes: [badge(one.result, (RESULTS[one.result] || { kind: 'plain' }).kind)] }, oursText(one), theirsText(one),
      one.result === 'starts earlier' ? formatSeconds(one.seconds) : '', formatNumber(one.gpus), { text: one.time, class: 'nowrap' }],
  }));
  searchTable(add(box, 'div', { class: 'panel' }), {
    caption: 'Differences.', head: ['Pod', 'Result', 'Muster', 'Running scheduler', 'Earlier by', 'GPUs', 'Time'],
    rows, noun: 'differences', textColumns: [1, 2, 3, 6], total: rows.length,
  });
}

function page() {
  const main = document.getElementById('main');
  const times = data.differences.map((one) => one.time);
  document.getElementById('subtitle').textContent = times.length ? `${formatNumber(times.length)} differences from ${times[0]} to ${times[times.length - 1]}` : 'No differences';
  document.getElementById('footer').textContent = 'Recorded by muster scheduler --shadow, which executes nothing. Nodes with the same free and total resources count as the same.';
  tiles(main);
  for (const draw of [whereSection, whySection, gainSection, listSection]) draw(main);
  document.documentElement.dataset.ready = 'true';
}

page();
