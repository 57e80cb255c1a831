/* Why work waited: by reason over time, and workload by workload. */

const REASON_COLORS = ['var(--q0)', 'var(--q1)', 'var(--q2)', 'var(--q3)', 'var(--q4)', 'var(--q5)', 'var(--q6)', 'var(--q7)', 'var(--q8)', 'var(--q9)'];

/* Codes in both settings, those waited for longest first; each keeps its colour on the whole page. */
function reasonsByTime() {
  const sums = new Map();
  for (const sim of data.simulations)
    for (const { code, seconds } of sim.reasons) sums.set(code, (sums.get(code) || 0) + seconds);
  return [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
}

const reasonColor = (() => {
  const order = reasonsByTime();
  return (code) => REASON_COLORS[order.indexOf(code)] || 'var(--other)';
})();

function reasonChart(parent, sim, top) {
  const chart = chartBase(sim, 'Waiting workloads by reason over time.', 240);
  chart.top = top;
  for (const { code, counts } of sim.reasons) chart.layers.push({ name: reasonWords(code), color: reasonColor(code), values: counts });
  legend(parent, chart);
  timeChart(parent, chart);
}

/* A bar that is divided by reason, and the same in words. */
function waitedCell(given) {
  const reasons = [...given].sort((a, b) => b[1] - a[1]);
  const total = reasons.reduce((sum, [, seconds]) => sum + seconds, 0);
  const bar = add(null, 'span', { class: 'parts', 'aria-hidden': 'true' });
  for (const [code, seconds] of reasons) add(bar, 'i', { style: `--c: ${reasonColor(code)}; flex-grow: ${Math.max(seconds / total, 0.02)}` });
  const text = reasons.map(([code, seconds]) => `${reasonWords(code)} ${formatSeconds(seconds)}`).join(', ');
  return { nodes: [bar, add(null, 'span', { text })], class: 'why' };
}

function waitedTable(parent, sim) {
  const rows = sim.waited.map((row) => {
    const queue = (sim.queues[row.queue] || {}).name || '';
    return {
      search: `${row.workload} ${queue} ${row.state} ${row.reasons.map(([code]) => reasonWords(code)).join(' ')}`,
      cells: [row.workload, queueCell(queue), formatNumber(row.gpus), { text: formatMoment(sim.start + row.submitted, sim.seconds), class: 'nowrap' }, formatSeconds(row.wait),
        formatSeconds(row.waited), { nodes: [stateBadge(row.state)] }, waitedCell(row.reasons)],
    };
  });
  searchTable(parent, {
    caption: 'Longest first. A workload that was evicted waits again: the total counts that, the first wait does not.',
    head: ['Workload', 'Queue', 'GPUs', 'Submitted', 'First wait', 'Waited in total', 'State', 'Reasons'],
    rows, noun: 'workloads that waited', textColumns: [1, 6, 7], total: sim.waitedTotal,
  });
}

/* Waiting time of all workloads by queue and reason. Rows and columns add up; the longest of each come first. */
function waitsTable(parent, sim) {
  const byQueue = new Map();
  const byReason = new Map();
  for (const { queue, reason, seconds } of sim.waits) {
    if (!byQueue.has(queue)) byQueue.set(queue, { total: 0, seconds: new Map() });
    const row = byQueue.get(queue);
    row.total += seconds;
    row.seconds.set(reason, seconds);
    byReason.set(reason, (byReason.get(reason) || 0) + seconds);
  }
  const reasons = [...byReason.keys()].sort((a, b) => byReason.get(b) - byReason.get(a));
  const all = [...byReason.values()].reduce((sum, seconds) => sum + seconds, 0);
  const cell = (seconds) => (seconds ? { text: formatSeconds(seconds), class: 'heat', style: `--h: ${Math.round(seconds / all * 45)}` } : '–');
  const rows = [...byQueue].sort((a, b) => b[1].total - a[1].total).map(([queue, row]) => [
    queue ? queueCell(queue) : 'no queue', `${formatSeconds(row.total)} (${formatPart(row.total / all)})`, ...reasons.map((reason) => cell(row.seconds.get(reason)))]);
  rows.push(['all queues', formatSeconds(all), ...reasons.map((reason) => cell(byReason.get(reason)))]);
  table(parent, 'Waiting time of all workloads together', ['Queue', 'Waited', ...reasons.map((reason) => data.reasons.find(({ code }) => code === reason).words)], rows);
}

function whySection(parent) {
  const box = section(parent, 'why', 'Why work waited', 'Workloads that wait, by the reason that the latest cycle gave. Each reason is explained in the verdicts page of the documentation; "muster why" explains a single workload.');
  const top = Math.max(1, ...data.simulations.flatMap((sim) => sim.waiting));
  columns(box, data).forEach((panel, i) => {
    const sim = data.simulations[i];
    if (!sim.reasons.length) {
      add(panel, 'p', { class: 'empty', text: 'Every workload started at once.' });
      return;
    }
    const halves = add(panel, 'div', { class: data.simulations.length > 1 ? 'stacked' : 'halves wide-left' });
    const left = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'Waiting workloads over time' }));
    reasonChart(left, sim, top);
    const right = add(halves, 'div', { class: 'panel' }, add(null, 'h3', { text: 'Waiting time by reason, all workloads together' }));
    const all = sim.reasons.reduce((sum, reason) => sum + reason.seconds, 0);
    barChart(right, 'Waiting time by reason.', sim.reasons.map(({ code, seconds }) => ({
      name: reasonWords(code), value: seconds, color: reasonColor(code), text: `${formatSeconds(seconds)} (${formatPart(seconds / all)})`,
    })).sort((a, b) => b.value - a.value));
    waitsTable(details(panel, 'By queue and reason'), sim);
  });
  data.simulations.forEach((sim, i) => {
    if (!sim.waited.length) return;
    const panel = add(box, 'div', { class: 'panel spaced' });
    if (data.simulations.length > 1) settingTitle(panel, sim, i);
    else add(panel, 'h3', { text: 'Workload by workload' });
    waitedTable(panel, sim);
  });
}
