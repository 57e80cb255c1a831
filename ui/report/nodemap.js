/*
 * Who holds which GPU at the end: a card for each node, a column in it for each GPU. Neighbouring GPUs of one workload are
 * one block; a shared GPU is divided from top to bottom.
 */

const NODES_AT_FIRST = 240;
const STILL_RUNS = 0;

/* [{name, lanes, blocks: [{job, first, span, top, height}]}] of the nodes that have GPUs; parts of a GPU from 0 to 1. */
function nodeBlocks(sim) {
  const words = unpack(sim.gantt.bars);
  const nodes = new Map(sim.gantt.nodes.map(([id, name, lanes]) => [id, { name, lanes, blocks: [] }]));
  for (let at = 0; at < words.length; at += BAR_WORDS) {
    const node = nodes.get(words[at] & 0xffffff);
    if (!node || words[at] >>> 24 !== STILL_RUNS) continue;
    const top = (words[at + 4] >>> 16) / 100;
    const height = (words[at + 4] & 0xffff) / 100;
    const first = Math.floor(top + 1e-9);
    if (height >= 1) node.blocks.push({ job: words[at + 1], first, span: Math.round(height), top: 0, height: 1 });
    else node.blocks.push({ job: words[at + 1], first, span: 1, top: top - first, height });
  }
  for (const node of nodes.values()) node.blocks = joined(node.blocks.sort((a, b) => a.first - b.first || a.top - b.top));
  return [...nodes.values()];
}

function joined(blocks) {
  const out = [];
  for (const block of blocks) {
    const last = out[out.length - 1];
    if (last && last.job === block.job && last.height === 1 && block.height === 1 && last.first + last.span === block.first) last.span += block.span;
    else out.push({ ...block });
  }
  return out;
}

function blockText(sim, node, block) {
  const queue = sim.queues[sim.gantt.queueOf(block.job)];
  const gpus = block.height < 1 ? `${formatNumber(block.height)} of GPU ${block.first}` : block.span > 1 ? `GPUs ${block.first} to ${block.first + block.span - 1}` : `GPU ${block.first}`;
  return { title: sim.gantt.jobs[block.job], rows: [
    { name: 'queue', value: queue ? queue.name : '–' },
    { name: 'node', value: node.name },
    { name: 'holds', value: gpus },
  ] };
}

function nodeCard(sim, node) {
  const held = node.blocks.reduce((sum, block) => sum + block.span * block.height, 0);
  const card = add(null, 'li', { class: 'node' });
  add(card, 'p', { class: 'name' }, add(null, 'b', { text: node.name }), add(null, 'span', { class: 'dim', text: `${formatNumber(held)} of ${node.lanes}` }));
  const lanes = add(card, 'div', { class: 'lanes', style: `--lanes: ${node.lanes}`, role: 'img', 'aria-label': nodeLabel(sim, node, held) });
  for (let i = 0; i < node.lanes; i++) add(lanes, 'i', { class: 'lane', style: `grid-column: ${i + 1}` });
  for (const block of node.blocks) {
    const queue = sim.queues[sim.gantt.queueOf(block.job)];
    const part = block.height < 1 ? `top: ${block.top * 100}%; height: ${block.height * 100}%` : '';
    const element = add(lanes, 'span', { class: `block${block.height < 1 ? ' part' : ''}`, style: `grid-column: ${block.first + 1} / span ${block.span}; --c: ${queue ? colorOf(queue.name) : 'var(--other)'}; ${part}` });
    add(element, 'span', { text: block.span * block.height >= 1 ? sim.gantt.jobs[block.job].replace(/^.*\//, '') : '' });
    element.addEventListener('pointermove', (event) => {
      const text = blockText(sim, node, block);
      tooltip.show(event.clientX, event.clientY, text.title, text.rows);
    });
    element.addEventListener('pointerleave', () => tooltip.hide());
  }
  return card;
}

function nodeLabel(sim, node, held) {
  const holders = [...new Set(node.blocks.map((block) => sim.gantt.jobs[block.job]))];
  return `${node.name}: ${formatNumber(held)} of ${node.lanes} GPUs allocated${holders.length ? ` to ${holders.join(', ')}` : ''}.`;
}

function nodeMap(parent, sim) {
  const nodes = nodeBlocks(sim);
  if (!nodes.length) {
    add(parent, 'p', { class: 'empty', text: `None of the ${formatNumber(sim.nodes)} nodes has GPUs.` });
    return;
  }
  for (const node of nodes) {
    const names = node.blocks.map((block) => `${sim.gantt.jobs[block.job]} ${(sim.queues[sim.gantt.queueOf(block.job)] || {}).name || ''}`);
    node.search = `${node.name} ${names.join(' ')}`.toLowerCase();
  }
  queueLegend(parent, sim, (queue) => queue.now.allocated > 0);
  const tools = add(parent, 'div', { class: 'tools' });
  const field = add(tools, 'input', { type: 'search', placeholder: 'Search nodes, workloads or queues', 'aria-label': 'Search nodes' });
  const count = add(tools, 'span', { class: 'dim', role: 'status' });
  const list = add(parent, 'ul', { class: 'nodes' });
  const more = add(parent, 'button', { type: 'button', class: 'more' });
  let limit = NODES_AT_FIRST;
  const without = sim.nodes - nodes.length;
  const draw = () => {
    const query = field.value.trim();
    const hits = query ? nodes.filter((node) => matches(node.search, query)) : nodes;
    const shown = hits.slice(0, limit);
    count.textContent = `${formatNumber(shown.length)} of ${formatNumber(sim.nodes)} nodes shown${without ? `; ${formatNumber(without)} without GPUs left out` : ''}`;
    list.replaceChildren(...shown.map((node) => nodeCard(sim, node)));
    more.hidden = shown.length === hits.length;
    more.textContent = `Show all ${formatNumber(hits.length)} nodes`;
  };
  more.addEventListener('click', () => { limit = Infinity; draw(); });
  field.addEventListener('input', draw);
  draw();
}
