/* The sections of a page with a trace. */

function useSection(parent) {
  const box = section(parent, 'use', 'Allocated GPUs by queue', 'The line is the total number of GPUs on ready nodes; the gap below it is idle.');
  const top = Math.max(...data.simulations.flatMap((sim) => sim.capacity));
  columns(box, data).forEach((panel, i) => {
    const sim = data.simulations[i];
    const chart = chartBase(sim, `Allocated GPUs by queue over ${formatSeconds(sim.seconds)}; on average ${formatPart(sim.metrics.allocated)} of ${formatNumber(sim.gpus)}.`, 300);
    chart.top = top;
    const rest = new Float64Array(chart.count);
    let hasRest = false;
    for (const queue of leaves(sim)) {
      if (hasOwnColor(queue.name)) chart.layers.push({ name: queue.name, color: colorOf(queue.name), values: queue.allocated });
      else {
        hasRest = true;
        queue.allocated.forEach((value, k) => { rest[k] += value; });
      }
    }
    if (hasRest) chart.layers.push({ name: 'other queues', color: 'var(--other)', values: rest });
    chart.lines.push({ name: 'total GPUs', color: 'var(--capacity)', values: sim.capacity, width: 1.4, label: `${formatNumber(Math.max(...sim.capacity))} GPUs in total` });
    legend(panel, chart);
    timeChart(panel, chart);
    const more = details(panel, 'Numbers by queue');
    queueTable(more, sim);
  });
}

function queueTable(parent, sim) {
  const rows = leaves(sim).map((queue) => [
    queue.name, gpuText(queue.quota), formatPart(queue.metrics.fairShare), formatPart(queue.metrics.allocated),
    formatNumber(queue.metrics.workloads), formatSeconds(queue.metrics.p50Wait ?? NaN), formatSeconds(queue.metrics.p95Wait ?? NaN),
    formatNumber(queue.metrics.evictions), formatNumber(queue.metrics.lostGpuHours)]);
  table(parent, 'Quota in GPUs. Percentages are of the whole cluster, averaged over time.', ['Queue', 'Quota', 'Fair share', 'Allocated', 'Workloads', 'Median wait', '95% wait', 'Evictions', 'GPU hours lost'], rows);
}

/* One scale for all queues in both settings, so that they can be compared; demand beyond the cluster is cut off. */
function shareTop() {
  const most = (values) => values.reduce((max, value) => Math.max(max, value), 0);
  const capacity = Math.max(...data.simulations.map((sim) => most(sim.capacity)));
  let top = 1;
  for (const sim of data.simulations)
    for (const queue of leaves(sim))
      top = Math.max(top, queue.quota, most(queue.fairShare), most(queue.allocated.map((value, k) => value + queue.pending[k])));
  return capacity > 0 ? Math.min(top, capacity) : top;
}

function shareSection(parent) {
  const top = shareTop();
  const box = section(parent, 'shares', 'Allocation against fair share', `For each queue: allocated GPUs (filled), fair share (line), quota (dashed), and what its pending workloads ask for on top (pale). All charts have the same scale, up to ${formatNumber(top)} GPUs; demand beyond it is cut off.`);
  columns(box, data).forEach((panel, i) => {
    const sim = data.simulations[i];
    const grid = add(panel, 'div', { class: 'multiples' });
    for (const queue of leaves(sim)) {
      const cell = add(grid, 'div', { class: 'panel' });
      const color = colorOf(queue.name);
      const title = add(cell, 'h3', { text: queue.name });
      add(title, 'span', { class: 'dim', text: `allocated ${formatPart(queue.metrics.allocated)}, fair share ${formatPart(queue.metrics.fairShare)} of the cluster` });
      const chart = chartBase(sim, `${queue.name}: allocated GPUs against fair share over time.`, 150);
      chart.top = top;
      chart.isFixed = true;
      chart.layers.push({ name: 'allocated', color, values: queue.allocated });
      chart.layers.push({ name: 'pending', color, values: queue.pending, opacity: 0.18 });
      chart.lines.push({ name: 'fair share', color: 'var(--ink)', values: queue.fairShare, width: 1.3 });
      if (queue.quota >= 0) chart.lines.push({ name: 'quota', color: 'var(--dim)', values: queue.allocated.map(() => queue.quota), dash: true, width: 1.1 });
      timeChart(cell, chart);
    }
  });
}

function waitSection(parent) {
  const box = section(parent, 'waits', 'Waiting times', 'From submission to the first start. Half of the workloads lie in the box, nine of ten within the whiskers; the bar is the median, the dot the longest wait.');
  columns(box, data).forEach((panel, i) => {
    const sim = data.simulations[i];
    const halves = add(panel, 'div', { class: data.simulations.length > 1 ? 'stacked' : 'halves' });
    const left = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'By queue' }));
    boxChart(left, 'Waiting times by queue.', sim.waitsByQueue.map((row) => ({ ...row, name: row.queue, color: colorOf(row.queue) })));
    const right = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'By size, in GPUs' }));
    boxChart(right, 'Waiting times by size.', sim.waitsBySize.map((row) => ({ ...row, name: row.size === 'cpu' ? 'no GPU' : row.size, color: 'var(--accent)' })));
    waitTable(details(panel, 'By queue and size'), sim);
  });
}

function waitTable(parent, sim) {
  const sizes = sim.waitsBySize.map((row) => row.size);
  const cells = new Map(sim.waitsByBoth.map((row) => [`${row.queue}\n${row.size}`, row]));
  const worst = Math.max(60, ...sim.waitsByBoth.map((row) => row.p[5]));
  const rows = sim.waitsByQueue.map(({ queue }) => [queue, ...sizes.map((size) => {
    const row = cells.get(`${queue}\n${size}`);
    if (!row) return '–';
    return { text: formatSeconds(row.p[5]), class: 'heat', style: `--h: ${Math.round(Math.log1p(row.p[5]) / Math.log1p(worst) * 45)}` };
  })]);
  table(parent, '95% of the workloads waited at most this long', ['Queue', ...sizes.map((size) => (size === 'cpu' ? 'no GPU' : size))], rows);
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
  const box = section(parent, 'evictions', 'Evictions and their cost', 'A workload that runs on GPUs beyond its queue\'s fair share may be evicted. Its work since the last checkpoint is lost.');
  columns(box, data).forEach((panel, i) => {
    const sim = data.simulations[i];
    if (!sim.evictedPods) {
      add(panel, 'p', { class: 'empty', text: 'Nothing was evicted.' });
      return;
    }
    const halves = add(panel, 'div', { class: data.simulations.length > 1 ? 'stacked' : 'halves' });
    const left = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'Pods evicted over time, by the queue that lost them' }));
    evictionChart(left, sim);
    const right = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'GPU hours lost, by queue' }));
    barChart(right, 'GPU hours lost by queue.', leaves(sim).map((queue) => ({
      name: queue.name, value: queue.metrics.lostGpuHours, color: colorOf(queue.name),
      text: `${formatNumber(queue.metrics.lostGpuHours)}${queue.metrics.gpuHours ? ` (${formatPart(queue.metrics.lostGpuHours / queue.metrics.gpuHours)})` : ''}`,
    })).sort((a, b) => b.value - a.value));
    const more = details(panel, 'The costliest evictions');
    table(more, 'Most GPU hours lost first', ['Time', 'Workload', 'Queue', 'Evicted for', 'Its queue', 'Action', 'Pods', 'GPU hours lost'],
      sim.evictions.map((e) => [formatMoment(sim.start + e.time, sim.seconds), e.workload, e.queue, e.for || '–', e.forQueue || '–', e.action, formatNumber(e.pods), formatNumber(e.lost)]), [1, 2, 3, 4, 5]);
  });
}

const evictionBins = (sim) => Math.max(1, Math.ceil(sim.allocated.length / 96));

function evictionTop(sim) {
  const sums = new Float64Array(sim.allocated.length);
  for (const queue of leaves(sim)) queue.evicted.forEach((value, k) => { sums[k] += value; });
  return Math.max(0, ...coarse(sums, evictionBins(sim)));
}

function evictionChart(parent, sim) {
  const size = evictionBins(sim);
  const chart = { ...chartBase(sim, `${formatNumber(sim.evictedPods)} pods evicted over time.`, 220), step: sim.step * size, isBars: true };
  chart.top = Math.max(...data.simulations.map(evictionTop));
  for (const queue of leaves(sim)) {
    const values = coarse(queue.evicted, size);
    if (values.some((value) => value > 0)) chart.layers.push({ name: queue.name, color: colorOf(queue.name), values });
    chart.count = values.length;
  }
  legend(parent, chart);
  timeChart(parent, chart);
}

function fragmentSection(parent) {
  const box = section(parent, 'fragmentation', 'Idle and fragmented GPUs', 'Idle GPUs on empty nodes fit any workload. Fragmented GPUs do not: those on partly used nodes fit no workload that needs whole nodes, and the free parts of shared GPUs fit fractions only.');
  const top = Math.max(1, ...data.simulations.flatMap((sim) => sim.empty.map((value, k) => value + sim.partly[k] + sim.shared[k])));
  columns(box, data).forEach((panel, i) => {
    const sim = data.simulations[i];
    const chart = chartBase(sim, `Idle GPUs over time; ${formatPart(sim.metrics.fragmented ?? NaN)} of idle GPU time fragmented.`, 240);
    chart.top = top;
    chart.layers.push({ name: 'free parts of shared GPUs', color: 'var(--q7)', values: sim.shared });
    chart.layers.push({ name: 'on partly used nodes', color: 'var(--q5)', values: sim.partly });
    chart.layers.push({ name: 'on empty nodes', color: 'var(--other)', values: sim.empty, opacity: 0.45 });
    legend(panel, chart);
    timeChart(panel, chart);
  });
}

function ganttSection(parent) {
  const box = section(parent, 'gantt', 'GPUs over time, node by node', 'A row is a node, a lane in it a GPU, a bar the stay of a pod, in the colour of its queue; a red end is an eviction or a failed node. Drag to move in time, Ctrl and wheel or two fingers to zoom.');
  data.simulations.forEach((sim, i) => {
    const panel = add(box, 'div', { class: `panel${i ? ' spaced' : ''}` });
    if (data.simulations.length > 1) settingTitle(panel, sim, i);
    if (!sim.gantt.bars) {
      add(panel, 'p', { class: 'empty', text: 'No pod ran on a GPU.' });
      return;
    }
    queueLegend(panel, sim, (queue) => queue.metrics.gpuHours > 0);
    new Gantt(panel, sim, (index, ink) => {
      const queue = sim.queues[index];
      return queue ? ink(colorOf(queue.name).slice(4, -1)) : ink('--other');
    });
    const rows = sim.gantt.nodes.length;
    add(panel, 'p', { class: 'dim', text: `${formatNumber(rows)} of ${formatNumber(sim.nodes)} nodes shown${rows < sim.nodes ? '; the others have no GPUs' : ''}.${sim.gantt.isCut ? ' There were more bars than the report keeps: the last ones are missing.' : ''}` });
  });
}
