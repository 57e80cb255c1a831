/*
 * The map of GPUs: a row for each node, a cell for each GPU, drawn on one canvas. The workload at the cursor, which pointer
 * and arrow keys move, is outlined wherever it runs, and a line below says what the cursor is on.
 */

const map = { cells: [], groups: [], cursor: null, canvas: null, sizes: null, isTable: false, drawn: '' };

/* Which cells of a node a pod has, kept while it runs, so that cells do not move when another pod ends. */
const places = new Map();

/* Pods with parts of one GPU are one tenant of a cell. */
function tenants(node) {
  const found = new Map();
  for (const holder of node.holders) {
    const isShared = holder.groups.length > 0 || holder.gpus < 1;
    const keys = isShared ? (holder.groups.length ? holder.groups : [`${holder.namespace}/${holder.pod}`])
      : Array.from({ length: Math.round(holder.gpus) }, (_, i) => `${holder.namespace}/${holder.pod}#${i}`);
    const share = isShared ? holder.gpus / keys.length : 1;
    for (const key of keys) {
      if (!found.has(key)) found.set(key, []);
      found.get(key).push({ holder, share });
    }
  }
  return found;
}

function cellsOf(node) {
  const found = tenants(node);
  const kept = (places.get(node.id) || []).map((key) => (found.has(key) ? key : undefined));
  for (const key of found.keys()) {
    if (kept.includes(key)) continue;
    const free = kept.indexOf(undefined);
    if (free < 0) kept.push(key);
    else kept[free] = key;
  }
  places.set(node.id, kept);
  return Array.from({ length: Math.max(node.gpus, kept.length) }, (_, i) => ({ node, index: i, parts: found.get(kept[i]) || [] }));
}

function gatherMap() {
  const groups = new Map();
  for (const node of [...rows.nodes.values()].filter((n) => n.gpus > 0).sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))) {
    const title = modelText(node.gpuModel);
    if (!groups.has(title)) groups.set(title, { title, nodes: [], total: 0, allocated: 0 });
    const group = groups.get(title);
    group.nodes.push({ node, cells: cellsOf(node) });
    group.total += node.gpus;
    group.allocated += node.gpusAllocated;
  }
  map.groups = [...groups.values()];
}

/* Detail follows size: cells shrink until the map fits, and small ones lose their labels. */
function measureMap(width) {
  const most = Math.max(1, ...map.groups.flatMap((group) => group.nodes.map((n) => n.cells.length)));
  const longest = Math.max(4, ...map.groups.flatMap((group) => group.nodes.map((n) => n.node.name.length)));
  let sizes;
  for (const cell of [28, 24, 20, 16, 12, 8, 5, 3]) {
    const gap = cell >= 12 ? 4 : cell >= 5 ? 2 : 1;
    const label = cell >= 12 ? Math.min(longest * 6.4 + 12, 150) : 0;
    const column = label + most * (cell + gap) + (cell >= 12 ? 26 : 8);
    const columns = Math.max(1, Math.floor((width + 20) / column));
    const rowHeight = cell + (cell >= 12 ? 4 : 0) + gap + 2;
    const height = map.groups.reduce((sum, group) => sum + 24 + Math.ceil(group.nodes.length / columns) * rowHeight + 8, 0);
    sizes = { cell, gap, label, column, columns, rowHeight, height };
    if (height <= 300 && label + most * (cell + gap) <= width) break;
  }
  return sizes;
}

function layMap(width) {
  const sizes = measureMap(width);
  let top = 0;
  map.cells = [];
  for (const group of map.groups) {
    group.top = top;
    top += 24;
    const perColumn = Math.ceil(group.nodes.length / sizes.columns);
    group.nodes.forEach((entry, i) => {
      entry.x = Math.floor(i / perColumn) * sizes.column;
      entry.y = top + (i % perColumn) * sizes.rowHeight;
      entry.cells.forEach((cell, k) => {
        cell.x = entry.x + sizes.label + k * (sizes.cell + sizes.gap);
        cell.y = entry.y;
        map.cells.push(cell);
      });
    });
    top += perColumn * sizes.rowHeight + 8;
  }
  sizes.height = Math.max(top, 24);
  map.sizes = sizes;
}

function drawHatch(context, x, y, w, h, colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.strokeStyle = colour;
  context.beginPath();
  for (let d = -h; d < w; d += 4) {
    context.moveTo(x + d, y + h);
    context.lineTo(x + d + h, y);
  }
  context.stroke();
  context.restore();
}

function drawCell(context, cell, colours) {
  const { cell: size } = map.sizes;
  const height = size + (size >= 12 ? 4 : 0);
  const radius = size >= 12 ? 3 : size >= 5 ? 1.5 : 0;
  context.save();
  context.beginPath();
  context.roundRect(cell.x, cell.y, size, height, radius);
  context.clip();
  let left = cell.x;
  for (const part of cell.parts) {
    const wide = Math.max(1, Math.round(size * Math.min(1, part.share || 1 / cell.parts.length)));
    context.fillStyle = colours.of(part.holder.queue);
    context.fillRect(left, cell.y, wide - (cell.parts.length > 1 && size >= 8 ? 1 : 0), height);
    left += wide;
  }
  if (!cell.node.isReady) drawHatch(context, cell.x, cell.y, size, height, colours.faint);
  context.restore();
  if (size < 5) {
    if (!cell.parts.length) { context.fillStyle = colours.line; context.fillRect(cell.x, cell.y, size, height); }
    return;
  }
  const used = cell.parts.reduce((sum, part) => sum + (part.share || 0), 0);
  if (used >= 0.999 && cell.node.isReady) return;
  context.beginPath();
  context.roundRect(cell.x + 0.5, cell.y + 0.5, size - 1, height - 1, Math.max(0, radius - 0.5));
  context.strokeStyle = cell.parts.length ? colours.of(cell.parts[0].holder.queue) : colours.control;
  if (!cell.parts.length) context.setLineDash([2, 2]);
  context.stroke();
  context.setLineDash([]);
}

function workloadAt(cell) {
  return cell && cell.parts.length ? cell.parts[0].holder.workload : '';
}

function drawOutlines(context, colours) {
  const id = workloadAt(map.cursor) || selectedId();
  const { cell: size } = map.sizes;
  const height = size + (size >= 12 ? 4 : 0);
  context.lineWidth = 2;
  context.strokeStyle = colours.ink;
  for (const cell of map.cells) {
    if (cell !== map.cursor && !(id && cell.parts.some((part) => part.holder.workload === id))) continue;
    context.beginPath();
    context.roundRect(cell.x - 1, cell.y - 1, size + 2, height + 2, 4);
    context.stroke();
  }
  context.lineWidth = 1;
}

function paintMap() {
  const { canvas, sizes } = map;
  if (!canvas || !sizes) return;
  const width = canvas.parentElement.clientWidth - 32;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round((sizes.height + 2) * scale));
  canvas.style.height = `${sizes.height + 2}px`;
  const context = canvas.getContext('2d');
  const found = new Map();
  const colours = {
    ink: token('--ink'), control: token('--control'), line: token('--line'), faint: token('--faint'),
    of(queue) {
      if (!found.has(queue)) found.set(queue, token(queueColour(queue)));
      return found.get(queue);
    },
  };
  context.scale(scale, scale);
  context.translate(1, 1);
  context.textBaseline = 'middle';
  const font = getComputedStyle(document.body).fontFamily;
  for (const group of map.groups) {
    context.font = `600 12px ${font}`;
    context.fillStyle = colours.ink;
    context.fillText(group.title, 0, group.top + 10);
    const at = context.measureText(group.title).width + 8;
    context.font = `400 12px ${font}`;
    context.fillStyle = token('--dim');
    context.fillText(`${amount(group.allocated)} of ${group.total} allocated`, at, group.top + 10);
    if (sizes.label) {
      for (const entry of group.nodes) context.fillText(entry.node.name, entry.x, entry.y + (sizes.cell + 4) / 2, sizes.label - 10);
    }
  }
  for (const cell of map.cells) drawCell(context, cell, colours);
  drawOutlines(context, colours);
  canvas.dataset.cells = map.cells.length;
  canvas.dataset.held = map.cells.filter((cell) => cell.parts.length).length;
}

function readCell() {
  const reading = byId('reading');
  const cell = map.cursor;
  if (!cell) {
    reading.replaceChildren(add(null, 'span', { class: 'dim', text: 'Point at a GPU, or move with the arrow keys, to see who holds it.' }));
    return;
  }
  const parts = cell.parts.map(({ holder }) => add(null, 'span', {}, chip(holder.queue),
    `${nameOf(holder.workload) || `${holder.namespace}/${holder.pod}`} (${holder.queue || 'no queue'}), ${gpuText(holder.gpus)}`));
  const state = cell.node.isReady ? (cell.node.isCordoned ? 'cordoned' : 'free') : 'the node is not ready';
  reading.replaceChildren(add(null, 'b', { text: `${cell.node.name} GPU ${cell.index}` }),
    ...(parts.length ? parts : [add(null, 'span', { class: 'dim', text: state })]));
}

function setCursor(cell) {
  if (cell === map.cursor) return;
  map.cursor = cell;
  readCell();
  paintMap();
}

function cellAt(event) {
  const box = map.canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left - 1, event.clientY - box.top - 1];
  const { cell: size, gap } = map.sizes;
  return map.cells.find((cell) => x >= cell.x - gap / 2 && x < cell.x + size + gap / 2 && y >= cell.y - 1 && y < cell.y + size + 6) || null;
}

/* The nearest cell in a direction. */
function moveCursor(dx, dy) {
  const from = map.cursor || map.cells[0];
  if (!map.cursor) { setCursor(from || null); return; }
  let best = null;
  let least = Infinity;
  for (const cell of map.cells) {
    const [x, y] = [cell.x - from.x, cell.y - from.y];
    const ahead = dx ? x * dx : y * dy;
    const aside = Math.abs(dx ? y : x);
    if (ahead <= 0 || (dx && aside > 2)) continue;
    const far = ahead + aside * 4;
    if (far < least) { least = far; best = cell; }
  }
  if (best) setCursor(best);
}

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function onMapKey(event) {
  if (MOVES[event.key]) {
    moveCursor(...MOVES[event.key]);
    event.preventDefault();
  } else if (event.key === 'Enter' && workloadAt(map.cursor)) {
    openWorkload(workloadAt(map.cursor));
    event.preventDefault();
  }
}

function makeCanvas() {
  map.canvas = add(null, 'canvas', {
    tabindex: '0', role: 'img', 'aria-describedby': 'reading',
    onmousemove: (event) => setCursor(cellAt(event)),
    onmouseleave: () => setCursor(null),
    onclick: (event) => { setCursor(cellAt(event)); if (workloadAt(map.cursor)) openWorkload(workloadAt(map.cursor)); },
    onkeydown: onMapKey,
    onblur: () => setCursor(null),
  });
  byId('map').replaceChildren(map.canvas);
}

function drawTable() {
  const body = add(null, 'tbody');
  for (const { node } of map.groups.flatMap((group) => group.nodes)) {
    const held = new Map();
    for (const holder of node.holders) held.set(holder.workload, (held.get(holder.workload) || 0) + holder.gpus);
    const list = [...held].map(([id, number]) => `${nameOf(id)} ${amount(number)}`).join(', ');
    add(body, 'tr', {}, add(null, 'th', { scope: 'row', text: node.name }), add(null, 'td', { text: modelText(node.gpuModel) }),
      add(null, 'td', { text: node.state }), add(null, 'td', { class: 'num', text: `${amount(node.gpusAllocated)} of ${node.gpus}` }),
      add(null, 'td', { class: 'fill', text: list || 'free' }));
  }
  const head = ['Node', 'GPU', 'State', 'Allocated', 'Held by'].map((text) => add(null, 'th', { scope: 'col', text, class: text === 'Allocated' && 'num' }));
  byId('map').replaceChildren(add(null, 'div', { class: 'scroll' }, add(null, 'table', { class: 'list' }, add(null, 'thead', {}, add(null, 'tr', {}, ...head)), body)));
}

function drawMap() {
  const at = map.cursor && [map.cursor.node.id, map.cursor.index];
  gatherMap();
  byId('map-key').hidden = map.isTable;
  byId('reading').hidden = map.isTable;
  if (map.isTable) {
    map.canvas = null;
    drawTable();
    return;
  }
  if (!map.canvas) makeCanvas();
  layMap(byId('map').clientWidth - 32);
  map.cursor = (at && map.cells.find((cell) => cell.node.id === at[0] && cell.index === at[1])) || null;
  const held = rows.summary.get('summary');
  if (held) map.canvas.setAttribute('aria-label', `Map of ${countText(held.gpus.total, 'GPU')}, ${amount(held.gpus.allocated)} allocated. Arrow keys move, Enter opens the workload.`);
  readCell();
  paintMap();
}

function drawMapKey() {
  const item = (kind, text) => add(null, 'span', {}, add(null, 'i', { class: `cell ${kind}` }), text);
  const queues = [...colourOf.keys()].filter((name) => isQueueShown(rows.queues.get(name))).slice(0, 8)
    .map((name) => add(null, 'span', {}, chip(name), name));
  byId('map-key').replaceChildren(...queues, item('shared', 'shared'), item('free', 'free'), item('out', 'not ready'));
}
