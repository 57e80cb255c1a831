/* The page of a simulation without a trace: where everything came to rest. */

function gpuText(amount) {
  return amount < 0 ? 'unlimited' : formatNumber(amount);
}

function queueStateTable(parent, sim) {
  const rows = [...sim.queues].sort((a, b) => a.rank - b.rank).map((queue) => {
    const now = queue.now;
    const used = { nodes: [meter(now.allocated, now.fairShare), formatNumber(now.allocated)], class: 'metered' };
    return [{ nodes: [add(null, 'span', { style: `padding-left: ${queue.depth * 16}px` }), ...(queue.leaf ? queueCell(queue.name).nodes : [queue.name])], class: 'keyed' },
      gpuText(queue.quota), gpuText(queue.limit), formatNumber(now.fairShare), used, formatNumber(now.borrowed), formatNumber(now.lent),
      { text: formatNumber(now.pending), class: now.pending > 0 ? 'warn' : '' }];
  });
  table(parent, 'In GPUs', ['Queue', 'Quota', 'Limit', 'Fair share', 'Allocated', 'Borrowed', 'Lent', 'Pending'], rows);
}

/* How much of the fair share is allocated; more than all of it is a full bar of another colour. */
function meter(value, of) {
  const part = of > 0 ? value / of : 0;
  const bar = add(null, 'span', { class: `meter${part > 1 + 1e-9 ? ' over' : ''}`, 'aria-hidden': 'true' });
  add(bar, 'i', { style: `width: ${Math.min(1, part) * 100}%` });
  return bar;
}

function pendingSection(parent, sim) {
  const waiting = sim.workloads.filter((row) => row.pending > 0);
  const box = section(parent, 'pending', 'Pending workloads', waiting.length ? 'Workloads with pods that have no place, and why.' : null);
  if (!waiting.length) {
    add(box, 'p', { class: 'empty', text: sim.workloads.length ? 'All workloads run.' : 'The input has no workloads.' });
    return;
  }
  const rows = waiting.map((row) => {
    const queue = (sim.queues[row.queue] || {}).name || '';
    const reason = data.reasons[row.reason];
    return {
      search: `${row.workload} ${queue} ${reason.outlook} ${reason.words} ${row.message}`,
      cells: [row.workload, queueCell(queue), `${formatNumber(row.pending)} of ${formatNumber(row.pods)}`, formatNumber(row.gpus),
        { nodes: [outlookBadge(reason.outlook)] }, { nodes: [add(null, 'b', { text: reason.words }), `: ${row.message}`], class: 'why' }],
    };
  });
  searchTable(box, { caption: 'Outlook: soon: once evicted pods have left; not now: others hold the resources; by choice: a setting holds it back; never: not on this cluster.',
    head: ['Workload', 'Queue', 'Pending pods', 'GPUs', 'Outlook', 'Reason'], rows, noun: 'pending workloads', textColumns: [1, 4, 5], total: sim.pendingTotal });
}

function runningSection(parent, sim) {
  const running = sim.workloads.filter((row) => row.running > 0);
  const box = section(parent, 'running', 'Who runs where');
  if (!running.length) {
    add(box, 'p', { class: 'empty', text: 'No workload runs.' });
    return;
  }
  const rows = running.map((row) => {
    const queue = (sim.queues[row.queue] || {}).name || '';
    return { search: `${row.workload} ${queue} ${row.nodes}`, cells: [row.workload, queueCell(queue), row.running < row.pods ? `${formatNumber(row.running)} of ${formatNumber(row.pods)}` : formatNumber(row.pods), formatNumber(row.gpus), row.nodes] };
  });
  searchTable(box, { caption: 'A number after a node is the number of pods on it.', head: ['Workload', 'Queue', 'Running pods', 'GPUs', 'Nodes'], rows, noun: 'running workloads', textColumns: [1, 4], total: sim.runningTotal });
}

function evictedSection(parent, sim) {
  if (!sim.evictions.length) return;
  const box = section(parent, 'evicted', 'Evicted on the way', 'Workloads that lost pods so that others could start. Most of them run again elsewhere.');
  table(box, 'In the order in which it happened', ['Workload', 'Queue', 'Pods', 'For', 'Action'],
    sim.evictions.map((e) => [e.workload, queueCell(e.queue), formatNumber(e.pods), e.for || '–', e.action]), [1, 3, 4]);
}

function stillTiles(parent, sim) {
  const idle = sim.gpus - sim.allocatedNow;
  const list = add(parent, 'dl', { class: 'tiles', id: 'tiles' });
  const tile = (title, text, note) => {
    const element = add(list, 'div', { class: 'tile' }, add(null, 'dt', { text: title }), add(null, 'dd', { text }));
    if (note) add(element, 'div', { class: 'note', text: note });
  };
  tile('Total GPUs', formatNumber(sim.gpus), `on ${formatNumber(sim.nodes)} node${sim.nodes === 1 ? '' : 's'}`);
  tile('Allocated GPUs', formatNumber(sim.allocatedNow), sim.gpus > 0 ? formatPart(sim.allocatedNow / sim.gpus) : '');
  tile('Fragmented GPUs', formatNumber(sim.fragmentedNow), `of ${formatNumber(idle)} idle, on partly used nodes`);
  tile('Running workloads', formatNumber(sim.runningTotal));
  tile('Pending workloads', formatNumber(sim.pendingTotal), sim.pendingTotal ? `asking for ${formatNumber(sim.pendingGpus)} GPUs` : '');
  tile('Evicted pods', formatNumber(sim.evictedPods));
}

function stillPage(main) {
  const sim = data.simulations[0];
  stillTiles(main, sim);
  if (sim.isCut) add(main, 'p', { class: 'banner bad', text: `Stopped after ${formatNumber(sim.cycles)} cycles: the cluster had not come to rest.` });
  pendingSection(main, sim);
  nodeMap(section(main, 'nodes', 'Node map', 'A card is a node, a column in it a GPU, in the colour of the queue that holds it. Which of its GPUs a pod gets is the device plugin\'s choice; the map fills them from the left.'), sim);
  runningSection(main, sim);
  queueStateTable(section(main, 'queues', 'Queues'), sim);
  evictedSection(main, sim);
}
