/* The page: which sections it has, and in which order. */

function header() {
  const first = data.simulations[0];
  const work = `${formatNumber(first.metrics.workloads)} workload${first.metrics.workloads === 1 ? '' : 's'}`;
  const where = `${formatNumber(first.gpus)} GPUs on ${formatNumber(first.nodes)} node${first.nodes === 1 ? '' : 's'}`;
  const when = data.hasTrace ? `, ${formatSeconds(first.seconds)} from ${formatMoment(first.start, first.seconds)} UTC` : '';
  document.getElementById('subtitle').textContent = `${work}, ${where}${when}`;
  const cycles = data.simulations.map((sim) => `${formatNumber(sim.cycles)} cycle${sim.cycles === 1 ? '' : 's'}`).join(' and ');
  document.getElementById('footer').textContent = `Simulated by Muster's engine in virtual time: ${cycles}. The same input gives the same page.${data.hasTrace ? ' Times are UTC.' : ''}`;
}

const TILES = [
  ['allocated', 'GPU time allocated'],
  ['p50Wait', '50% start within'],
  ['p95Wait', '95% start within'],
  ['evictions', 'Evictions'],
  ['lostGpuHours', 'GPU hours lost'],
  ['fragmented', 'Idle GPUs fragmented'],
  ['neverStarted', 'Never started'],
];

function tiles(parent) {
  const list = add(parent, 'dl', { class: 'tiles', id: 'tiles' });
  for (const [name, title] of TILES) {
    const metric = metricOf.get(name);
    const values = data.simulations.map((sim) => sim.metrics[name]);
    const tile = add(list, 'div', { class: 'tile', title: metric.help }, add(null, 'dt', { text: title }));
    const texts = values.map((value) => formatMetric(metric.unit, value));
    add(tile, 'dd', { text: texts.join(' → '), class: texts.length > 1 && 'pair' });
    if (values.length > 1) add(tile, 'div', { class: 'note' }, ...changeNodes(metric, values[0], values[1]));
  }
}

function tracePage(main) {
  tiles(main);
  for (const draw of [comparisonSection, useSection, whySection, shareSection, waitSection, evictionSection, fragmentSection, ganttSection]) draw(main);
}

function page() {
  const main = document.getElementById('main');
  header();
  requirementSection(main);
  if (data.hasTrace) tracePage(main);
  else stillPage(main);
  document.documentElement.dataset.ready = 'true';
}

page();
