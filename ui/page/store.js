/* What the page knows: rows by part and id, as the server sends them, and the colours of queues. */

const PARTS = ['summary', 'nodes', 'queues', 'workloads'];
const rows = Object.fromEntries(PARTS.map((part) => [part, new Map()]));

/* By how much the server's clock is ahead of ours; times on the page are the server's. */
let clockSkew = 0;
const now = () => Date.now() + clockSkew;

function storeReset(data) {
  for (const part of PARTS) rows[part].clear();
  storeChange(data);
}

function storeChange(data) {
  for (const part of PARTS) {
    for (const row of data[part] || []) rows[part].set(row.id, row);
    for (const id of (data.gone || {})[part] || []) rows[part].delete(id);
  }
}

const HUES = 6;
const colourOf = new Map();

/* Queues get colours in the order of their names, and keep them while the page is open. The default queue has one only where
 * there is no other. */
function colourQueues() {
  const leaves = [...rows.queues.values()].filter((queue) => queue.isLeaf).map((queue) => queue.name).sort();
  const own = leaves.filter((name) => !name.startsWith('default-'));
  const coloured = new Set(own.length ? own : leaves);
  for (const name of colourOf.keys()) if (!coloured.has(name)) colourOf.delete(name);
  const taken = new Set(colourOf.values());
  let next = 0;
  for (const name of coloured) {
    if (colourOf.has(name)) continue;
    while (taken.has(next)) next++;
    taken.add(next);
    colourOf.set(name, next);
  }
}

/* The custom property of a queue's colour. From the seventh queue on, hues come again in another lightness. */
function queueColour(name) {
  const index = colourOf.get(name);
  if (index === undefined) return '--other';
  return `--q${index % HUES}${['', 'l', 'd'][Math.floor(index / HUES) % 3]}`;
}

const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function chip(queue) {
  const element = add(null, 'span', { class: 'chip', 'aria-hidden': 'true' });
  element.style.background = `var(${queueColour(queue)})`;
  return element;
}
