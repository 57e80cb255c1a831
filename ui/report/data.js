/* The data of the page, and what all sections need to know of it. */

const data = JSON.parse(document.getElementById('data').textContent);
const metricOf = new Map(data.metrics.map((metric) => [metric.name, metric]));
const MANY = 10;

/* The queue of a job, packed two in a word. */
for (const sim of data.simulations) {
  const queues = unpack(sim.gantt.jobQueues);
  sim.gantt.queueOf = (job) => queues[job >> 1] >> (job & 1) * 16 & 0xffff;
}

function leaves(sim) {
  return sim.queues.filter((queue) => queue.leaf);
}

/* The largest queues have a colour of their own, the same one in both settings; all others share one. */
const colorOf = (() => {
  const held = new Map();
  for (const sim of data.simulations)
    for (const queue of leaves(sim)) held.set(queue.name, Math.max(held.get(queue.name) || 0, queue.metrics.gpuHours || 0, queue.now.allocated));
  const names = [...held.keys()];
  const own = names.length <= MANY ? names : [...names].sort((a, b) => held.get(b) - held.get(a)).slice(0, MANY - 1);
  const place = new Map(names.filter((name) => own.includes(name)).map((name, i) => [name, i]));
  return (name) => (place.has(name) ? `var(--q${place.get(name)})` : 'var(--other)');
})();

function hasOwnColor(name) {
  return colorOf(name) !== 'var(--other)';
}

function chartBase(sim, label, height) {
  return { label, start: sim.start, seconds: Math.max(sim.seconds, 1e-3), step: sim.step, count: sim.allocated.length, height, layers: [], lines: [] };
}

/* The colours of the queues that `isShown` accepts; queues without a colour of their own are one entry. */
function queueLegend(parent, sim, isShown) {
  const shown = leaves(sim).filter(isShown);
  const list = add(parent, 'ul', { class: 'legend' });
  const entry = (name, color) => add(list, 'li', {}, add(null, 'span', { class: 'item' }, add(null, 'i', { class: 'key', style: `--c: ${color}` }), name));
  for (const queue of shown.filter((q) => hasOwnColor(q.name))) entry(queue.name, colorOf(queue.name));
  if (shown.some((q) => !hasOwnColor(q.name))) entry('other queues', 'var(--other)');
}
