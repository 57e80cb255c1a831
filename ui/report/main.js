/* The page: what stands where. */

const data = JSON.parse(document.getElementById('data').textContent);
const unitOf = new Map(data.metrics.map((metric) => [metric.name, metric]));
const MANY = 10;

function leaves(play) {
  return play.queues.filter((queue) => queue.leaf);
}

/* The largest queues have a colour of their own, the same one in both settings; all others share one. */
const colorOf = (() => {
  const use = new Map();
  for (const play of data.plays)
    for (const queue of leaves(play)) use.set(queue.name, Math.max(use.get(queue.name) || 0, queue.metrics.gpu_hours || 0));
  const names = [...use.keys()];
  const own = names.length <= MANY ? names : [...names].sort((a, b) => use.get(b) - use.get(a)).slice(0, MANY - 1);
  const place = new Map(names.filter((name) => own.includes(name)).map((name, i) => [name, i]));
  return (name) => (place.has(name) ? `var(--q${place.get(name)})` : 'var(--other)');
})();

function hasOwnColor(name) {
  return colorOf(name) !== 'var(--other)';
}

function chartBase(play, label, height) {
  return { label, start: play.start, seconds: Math.max(play.seconds, 1e-3), step: play.step, count: play.used.length, height, layers: [], lines: [] };
}

function header() {
  const first = data.plays[0];
  const jobs = formatNumber(first.metrics.jobs);
  document.getElementById('subtitle').textContent = `${jobs} workloads on ${formatNumber(first.gpus)} GPUs of ${formatNumber(first.nodes)} nodes, ${formatSeconds(first.seconds)} from ${formatMoment(first.start, first.seconds)} UTC`;
  const cycles = data.plays.map((play) => `${formatNumber(play.cycles)} cycles`).join(' and ');
  document.getElementById('footer').textContent = `Decided by Muster's engine in virtual time: ${cycles}. The same input gives the same page. Times are UTC.`;
}

const TILES = [
  ['use', 'GPUs in use'],
  ['p50_wait', 'Half start within'],
  ['p95_wait', '95 % start within'],
  ['evictions', 'Evictions'],
  ['lost_gpu_hours', 'GPU hours lost'],
  ['fragmentation', 'Idle in pieces'],
  ['never_started', 'Never started'],
];

function change(info, a, b) {
  if (a === null || b === null || a === b) return { text: a === b ? 'no change' : '', class: 'note' };
  const isBetter = info.better !== 0 && (b > a) === (info.better > 0);
  const size = a ? `${b > a ? '+' : '−'}${Math.abs((b - a) / a * 100).toFixed(Math.abs((b - a) / a) < 0.1 ? 1 : 0)} %` : 'from 0';
  return { text: `${size}${info.better ? (isBetter ? ', better' : ', worse') : ''}`, class: info.better ? (isBetter ? 'note good' : 'note bad') : 'note' };
}

function tiles(parent) {
  const list = add(parent, 'dl', { class: 'tiles', id: 'tiles' });
  for (const [name, title] of TILES) {
    const info = unitOf.get(name);
    const values = data.plays.map((play) => play.metrics[name]);
    const tile = add(list, 'div', { class: 'tile', title: info.help }, add(null, 'dt', { text: title }));
    const texts = values.map((value) => formatMetric(info.unit, value));
    add(tile, 'dd', { text: texts.join(' → '), class: texts.length > 1 && 'pair' });
    if (values.length > 1) add(tile, 'div', change(info, values[0], values[1]));
  }
}

function comparisonSection(parent) {
  if (data.plays.length < 2) return;
  const [a, b] = data.plays;
  const box = section(parent, 'comparison', 'Side by side', 'The same trace with both settings.');
  if (data.bounds.length) {
    const rows = data.bounds.map((bound) => [bound.text, { text: bound.holds ? 'holds' : 'broken', class: '' }]);
    const element = table(box, 'What was required', ['Bound', 'Verdict'], rows);
    [...element.querySelectorAll('tbody td')].forEach((cell, i) => {
      cell.textContent = '';
      add(cell, 'span', { class: `verdict ${data.bounds[i].holds ? 'good' : 'bad'}`, text: data.bounds[i].holds ? 'holds' : 'broken' });
    });
  }
  const rows = data.metrics.filter((m) => a.metrics[m.name] !== null || b.metrics[m.name] !== null).map((m) => {
    const diff = change(m, a.metrics[m.name], b.metrics[m.name]);
    return [m.name, formatMetric(m.unit, a.metrics[m.name]), formatMetric(m.unit, b.metrics[m.name]), { text: diff.text, class: diff.class.replace('note', '') }, m.help];
  });
  table(box, `All numbers. A is ${a.title}, B is ${b.title}.`, ['Metric', 'A', 'B', 'Change', 'Meaning'], rows, [4]).className = 'numbers';
  const names = [...new Set([...leaves(a), ...leaves(b)].map((queue) => queue.name))];
  const shown = ['mean_wait', 'p95_wait', 'use', 'evictions', 'lost_gpu_hours'];
  const value = (play, name, metric) => formatMetric(unitOf.get(metric).unit, (play.queues.find((q) => q.name === name) || { metrics: {} }).metrics[metric]);
  const more = details(box, 'Queue by queue');
  table(more, 'A → B', ['Queue', ...shown], names.map((name) => [name, ...shown.map((metric) => `${value(a, name, metric)} → ${value(b, name, metric)}`)]));
}

function useSection(parent) {
  const box = section(parent, 'use', 'Who uses the cluster', 'GPUs in use by each queue. The line is what the cluster has; the gap below it is idle.');
  const top = Math.max(...data.plays.flatMap((play) => play.capacity));
  columns(box, data).forEach((panel, i) => {
    const play = data.plays[i];
    const chart = chartBase(play, `GPUs in use by queue over ${formatSeconds(play.seconds)}; on average ${formatPart(play.metrics.use)} of ${formatNumber(play.gpus)}.`, 300);
    chart.top = top;
    const rest = new Float64Array(chart.count);
    let hasRest = false;
    for (const queue of leaves(play)) {
      if (hasOwnColor(queue.name)) chart.layers.push({ name: queue.name, color: colorOf(queue.name), values: queue.used });
      else {
        hasRest = true;
        queue.used.forEach((value, k) => { rest[k] += value; });
      }
    }
    if (hasRest) chart.layers.push({ name: 'others', color: 'var(--other)', values: rest });
    chart.lines.push({ name: 'GPUs there are', color: 'var(--capacity)', values: play.capacity, width: 1.4 });
    legend(panel, chart);
    timeChart(panel, chart);
    const more = details(panel, 'Numbers by queue');
    queueTable(more, play);
  });
}

function queueTable(parent, play) {
  const rows = leaves(play).map((queue) => [
    queue.name, queue.quota < 0 ? 'any' : formatNumber(queue.quota), formatPart(queue.metrics.fair_share), formatPart(queue.metrics.use),
    formatNumber(queue.metrics.jobs), formatSeconds(queue.metrics.p50_wait ?? NaN), formatSeconds(queue.metrics.p95_wait ?? NaN),
    formatNumber(queue.metrics.evictions), formatNumber(queue.metrics.lost_gpu_hours)]);
  table(parent, 'Parts are of the whole cluster, averaged over time', ['Queue', 'Quota', 'Fair share', 'Use', 'Jobs', 'Median wait', '95 % wait', 'Evictions', 'GPU hours lost'], rows);
}

function shareSection(parent) {
  /* The same scale for a queue in both settings. */
  const tops = new Map();
  for (const play of data.plays)
    for (const queue of leaves(play))
      tops.set(queue.name, Math.max(tops.get(queue.name) || 0, queue.quota, ...queue.share, ...queue.used.map((value, k) => value + queue.pending[k])));
  const box = section(parent, 'shares', 'Use against fair share', 'For each queue: what it used (filled), what it was due (line), its quota (dashed), and what its waiting work asks for on top (pale).');
  columns(box, data).forEach((panel, i) => {
    const play = data.plays[i];
    const grid = add(panel, 'div', { class: 'multiples' });
    for (const queue of leaves(play)) {
      const cell = add(grid, 'div', { class: 'panel' });
      const color = colorOf(queue.name);
      const title = add(cell, 'h3', { text: queue.name });
      add(title, 'span', { class: 'dim', text: `used ${formatPart(queue.metrics.use)}, due ${formatPart(queue.metrics.fair_share)}` });
      const chart = chartBase(play, `${queue.name}: GPUs used against fair share over time.`, 150);
      chart.top = tops.get(queue.name);
      chart.layers.push({ name: 'used', color, values: queue.used });
      chart.layers.push({ name: 'waiting for', color, values: queue.pending, opacity: 0.18 });
      chart.lines.push({ name: 'fair share', color: 'var(--ink)', values: queue.share, width: 1.3 });
      if (queue.quota >= 0) chart.lines.push({ name: 'quota', color: 'var(--dim)', values: queue.used.map(() => queue.quota), dash: true, width: 1.1 });
      timeChart(cell, chart);
    }
  });
}

function waitSection(parent) {
  const box = section(parent, 'waits', 'How long work waits', 'From submission to the first start. Half of the workloads lie in the box, nine of ten within the whiskers; the bar is the median, the dot the longest wait.');
  columns(box, data).forEach((panel, i) => {
    const play = data.plays[i];
    const halves = add(panel, 'div', { class: data.plays.length > 1 ? 'stacked' : 'halves' });
    const left = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'By queue' }));
    boxChart(left, 'Waiting times by queue.', play.waits_by_queue.map((row) => ({ ...row, name: row.queue, color: colorOf(row.queue) })));
    const right = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'By size, in GPUs' }));
    boxChart(right, 'Waiting times by size.', play.waits_by_size.map((row) => ({ ...row, name: row.size === 'cpu' ? 'no GPU' : row.size, color: 'var(--accent)' })));
    waitTable(details(panel, 'By queue and size'), play);
  });
}

function waitTable(parent, play) {
  const sizes = play.waits_by_size.map((row) => row.size);
  const cells = new Map(play.waits_by_both.map((row) => [`${row.queue}\n${row.size}`, row]));
  const worst = Math.max(60, ...play.waits_by_both.map((row) => row.p[5]));
  const rows = play.waits_by_queue.map(({ queue }) => [queue, ...sizes.map((size) => {
    const row = cells.get(`${queue}\n${size}`);
    if (!row) return '–';
    return { text: formatSeconds(row.p[5]), class: 'heat', style: `--h: ${Math.round(Math.log1p(row.p[5]) / Math.log1p(worst) * 45)}` };
  })]);
  table(parent, '95 % of the workloads waited no longer', ['Queue', ...sizes.map((size) => (size === 'cpu' ? 'no GPU' : size))], rows);
}

/* Sums of several steps, so that a bar is wide enough to be seen. */
function coarse(values, size) {
  const out = [];
  for (let i = 0; i < values.length; i += size) {
    let sum = 0;
    for (let k = i; k < Math.min(i + size, values.length); k++) sum += values[k];
    out.push(sum);
  }
  return out;
}

function evictionSection(parent) {
  const box = section(parent, 'evictions', 'Evictions and what they cost', 'Work that runs on what others are due may be evicted. What it had done since its last checkpoint is lost.');
  columns(box, data).forEach((panel, i) => {
    const play = data.plays[i];
    if (!play.evicted_pods) {
      add(panel, 'p', { class: 'empty', text: 'Nothing was evicted.' });
      return;
    }
    const halves = add(panel, 'div', { class: data.plays.length > 1 ? 'stacked' : 'halves' });
    const left = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'Pods evicted over time, by the queue that lost them' }));
    evictionChart(left, play);
    const right = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'GPU hours lost, by queue' }));
    barChart(right, 'GPU hours lost by queue.', leaves(play).map((queue) => ({
      name: queue.name, value: queue.metrics.lost_gpu_hours, color: colorOf(queue.name),
      text: `${formatNumber(queue.metrics.lost_gpu_hours)}${queue.metrics.gpu_hours ? ` (${formatPart(queue.metrics.lost_gpu_hours / queue.metrics.gpu_hours)})` : ''}`,
    })).sort((a, b) => b.value - a.value));
    const more = details(panel, 'The costliest evictions');
    table(more, 'Most GPU hours lost first', ['When', 'Workload', 'Queue', 'For', 'Its queue', 'Why', 'Pods', 'GPU hours lost'],
      play.evictions.map((e) => [formatMoment(play.start + e.time, play.seconds), e.job, e.queue, e.for || '–', e.for_queue || '–', e.action, formatNumber(e.pods), formatNumber(e.lost)]), [1, 2, 3, 4, 5]);
  });
}

const evictionBins = (play) => Math.max(1, Math.ceil(play.used.length / 96));

function evictionTop(play) {
  const sums = new Float64Array(play.used.length);
  for (const queue of leaves(play)) queue.evicted.forEach((value, k) => { sums[k] += value; });
  return Math.max(0, ...coarse(sums, evictionBins(play)));
}

function evictionChart(parent, play) {
  const size = evictionBins(play);
  const chart = { ...chartBase(play, `${formatNumber(play.evicted_pods)} pods evicted over time.`, 220), step: play.step * size, isBars: true };
  chart.top = Math.max(...data.plays.map(evictionTop));
  for (const queue of leaves(play)) {
    const values = coarse(queue.evicted, size);
    if (values.some((value) => value > 0)) chart.layers.push({ name: queue.name, color: colorOf(queue.name), values });
    chart.count = values.length;
  }
  legend(parent, chart);
  timeChart(parent, chart);
}

function fragmentSection(parent) {
  const box = section(parent, 'fragmentation', 'What idles, and in how small pieces', 'Idle GPUs on empty nodes can take any work. Those on nodes in part use cannot take work that needs whole nodes, and the free parts of shared GPUs take fractions only.');
  const top = Math.max(1, ...data.plays.flatMap((play) => play.empty.map((value, k) => value + play.partly[k] + play.shared[k])));
  columns(box, data).forEach((panel, i) => {
    const play = data.plays[i];
    const chart = chartBase(play, `Idle GPUs over time; ${formatPart(play.metrics.fragmentation ?? NaN)} of idle GPU time on nodes in part use.`, 240);
    chart.top = top;
    chart.layers.push({ name: 'parts of shared GPUs', color: 'var(--q7)', values: play.shared });
    chart.layers.push({ name: 'on nodes in part use', color: 'var(--q5)', values: play.partly });
    chart.layers.push({ name: 'on empty nodes', color: 'var(--other)', values: play.empty, opacity: 0.45 });
    legend(panel, chart);
    timeChart(panel, chart);
  });
}

function ganttSection(parent) {
  const box = section(parent, 'gantt', 'Node by node', 'A row is a node, a lane in it a GPU, a bar the stay of a pod, in the colour of its queue; a red end is an eviction or a failed node. Drag to move in time, Ctrl and wheel or two fingers to zoom.');
  data.plays.forEach((play, i) => {
    const panel = add(box, 'div', { class: 'panel', style: i ? 'margin-top: 24px' : '' });
    if (data.plays.length > 1) settingTitle(panel, play, i);
    if (!play.gantt.bars) {
      add(panel, 'p', { class: 'empty', text: 'No pod ran on a GPU.' });
      return;
    }
    const list = add(panel, 'ul', { class: 'legend' });
    for (const queue of leaves(play).filter((q) => q.metrics.gpu_hours > 0 && hasOwnColor(q.name)))
      add(list, 'li', {}, add(null, 'span', { class: 'item' }, add(null, 'i', { class: 'key', style: `--c: ${colorOf(queue.name)}` }), queue.name));
    new Gantt(panel, play, (index, ink) => {
      const queue = play.queues[index];
      return queue ? ink(colorOf(queue.name).slice(4, -1)) : ink('--other');
    });
    if (play.gantt.is_cut) add(panel, 'p', { class: 'dim', text: 'There were more bars than the report keeps; the last ones are not shown.' });
  });
}

function page() {
  const main = document.getElementById('main');
  header();
  tiles(main);
  for (const draw of [comparisonSection, useSection, shareSection, waitSection, evictionSection, fragmentSection, ganttSection]) draw(main);
  document.documentElement.dataset.ready = 'true';
}

page();
