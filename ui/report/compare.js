/* Requirements, and two settings side by side. */

/* "+0.2 pp" for percents, "-30.7%" for the rest; queues that got worse are named even where the whole got better. */
function change(metric, a, b) {
  if (a === null || b === null || a === b) return { text: a === b ? 'no change' : '', class: '' };
  const sign = b > a ? '+' : '−';
  const size = metric.unit === 'part' ? `${sign}${Math.abs((b - a) * 100).toFixed(1)} pp`
    : a ? `${sign}${Math.abs((b - a) / a * 100).toFixed(1)}%` : 'from 0';
  if (!metric.better) return { text: size, class: '' };
  const isBetter = (b > a) === (metric.better > 0);
  const worse = isBetter && metric.worse ? metric.worse : [];
  return { text: `${size}, ${isBetter ? 'better' : 'worse'}`, class: isBetter ? (worse.length ? '' : 'good') : 'bad', worse };
}

/* The change as elements: the figure, and under it the queues that got worse. */
function changeNodes(metric, a, b) {
  const diff = change(metric, a, b);
  const nodes = [add(null, 'span', { class: diff.class, text: diff.worse && diff.worse.length ? `${diff.text} overall` : diff.text })];
  if (diff.worse && diff.worse.length) nodes.push(add(null, 'span', { class: 'bad worse', text: `worse for ${diff.worse.join(', ')}` }));
  return nodes;
}

/* Broken requirements come before everything else. */
function requirementSection(parent) {
  if (!data.requirements.length) return;
  const broken = data.requirements.filter((requirement) => !requirement.holds);
  const total = data.requirements.length;
  const title = broken.length ? `${broken.length} of ${total} requirement${total > 1 ? 's' : ''} broken` : total > 1 ? `All ${total} requirements hold` : 'The requirement holds';
  const box = section(parent, 'requirements', title);
  box.classList.add(broken.length ? 'broken' : 'held');
  const rows = [...broken, ...data.requirements.filter((requirement) => requirement.holds)].map((requirement) => [
    { nodes: [add(null, 'code', { text: requirement.requirement })] }, { nodes: [badge(requirement.holds ? 'holds' : 'broken', requirement.holds ? 'good' : 'bad')] }, requirement.found]);
  table(box, 'What --require asked for', ['Requirement', 'Result', 'Found'], rows, [1, 2]);
}

function comparisonSection(parent) {
  if (data.simulations.length < 2) return;
  const [a, b] = data.simulations;
  const box = section(parent, 'comparison', 'Side by side', `The same trace with both settings. A is ${a.title}, B is ${b.title}. Changes of percentages are in percentage points (pp).`);
  const rows = data.metrics.filter((m) => !m.isAtEnd && (a.metrics[m.name] !== null || b.metrics[m.name] !== null)).map((m) => [
    { nodes: [add(null, 'code', { text: m.name })] }, formatMetric(m.unit, a.metrics[m.name]), formatMetric(m.unit, b.metrics[m.name]),
    { nodes: changeNodes(m, a.metrics[m.name], b.metrics[m.name]), class: 'change' }, m.help]);
  table(box, 'All metrics', ['Metric', 'A', 'B', 'Change', 'Meaning'], rows, [3, 4]).className = 'numbers';
  queueComparison(box, a, b);
}

const QUEUE_METRICS = [['meanWait', 'Mean wait'], ['p95Wait', '95% wait'], ['allocated', 'Allocated'], ['evictions', 'Evictions'], ['lostGpuHours', 'GPU hours lost']];

function queueComparison(parent, a, b) {
  const names = [...new Set([...leaves(a), ...leaves(b)].map((queue) => queue.name))];
  const value = (sim, name, metric) => (sim.queues.find((queue) => queue.name === name) || { metrics: {} }).metrics[metric] ?? null;
  const rows = names.map((name) => [queueCell(name), ...QUEUE_METRICS.map(([id]) => {
    const metric = { ...metricOf.get(id), worse: null };
    const [first, second] = [value(a, name, id), value(b, name, id)];
    const isWorse = (metricOf.get(id).worse || []).includes(name);
    /* A queue that holds fewer GPUs may do the same work with less of it lost. */
    const isBetter = metric.better && id !== 'allocated' && first !== null && second !== null && first !== second && (second > first) === (metric.better > 0);
    return { text: `${formatMetric(metric.unit, first)} → ${formatMetric(metric.unit, second)}`, class: isWorse ? 'bad' : isBetter ? 'good' : '' };
  })]);
  table(parent, 'Queue by queue, A → B. Red is worse, green is better.', ['Queue', ...QUEUE_METRICS.map(([, title]) => title)], rows);
}
