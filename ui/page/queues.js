/*
 * Queues as a ledger: one scale for all bars, so that lengths compare. From left to right: allocated within the quota,
 * borrowed beyond it, lent up to it, and pending.
 */

/* The default queues are shown once they are used. */
function isQueueShown(queue) {
  return queue && !(queue.name.startsWith('default-') && queue.allocated === 0 && queue.pending === 0 && queue.quota <= 0 && rows.queues.size > 2);
}

function queueTree() {
  const children = new Map();
  for (const queue of rows.queues.values()) {
    const parent = rows.queues.has(queue.parent) ? queue.parent : '';
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(queue);
  }
  const found = [];
  const walk = (parent, depth) => {
    for (const queue of (children.get(parent) || []).sort((a, b) => a.name.localeCompare(b.name))) {
      if (!isQueueShown(queue)) continue;
      found.push({ queue, depth });
      walk(queue.name, depth + 1);
    }
  };
  walk('', 0);
  return found;
}

function ledgerBar(queue, scale, height) {
  const x = (value) => `${(Math.max(0, value) / scale) * 100}%`;
  const [top, thick] = [height / 2 - 5.5, 11];
  const colour = `var(${queue.isLeaf ? queueColour(queue.name) : '--dim'})`;
  const within = queue.quota < 0 ? queue.allocated : Math.min(queue.allocated, queue.quota);
  const bar = add(null, 'svg:svg', { class: 'bar-svg', height, 'aria-hidden': 'true' });
  const box = (from, to, kind) => {
    if (to - from > 1e-6) add(bar, 'svg:rect', { x: x(from), y: top, width: x(to - from), height: thick, class: kind, style: `--c: ${colour}` });
  };
  const shown = Math.max(queue.allocated, 0);
  box(shown, Math.min(shown + queue.pending, scale), 'pending');
  if (queue.quota > queue.allocated) box(queue.allocated, queue.quota, 'lent');
  box(0, within, 'held');
  if (queue.quota >= 0) box(within, queue.allocated, 'borrowed');
  if (queue.quota >= 0) add(bar, 'svg:line', { x1: x(queue.quota), x2: x(queue.quota), y1: top - 4, y2: top + thick + 4, class: 'quota' });
  if (queue.fairShare > 0 || queue.pending > 0) {
    add(bar, 'svg:svg', { x: x(queue.fairShare), y: top - 7, overflow: 'visible' }, add(null, 'svg:path', { d: 'M-3.5 0h7L0 5z', class: 'share' }));
  }
  return bar;
}

function numberCell(value, label) {
  const text = value === 0 ? '–' : value < 0 ? 'unlimited' : amount(value);
  return add(null, 'td', { class: value === 0 ? 'num zero' : 'num', 'data-label': label, text });
}

function drawQueues() {
  const tree = queueTree();
  const scale = Math.max(1, ...tree.map(({ queue }) => Math.max(queue.quota, queue.allocated, queue.fairShare,
    Math.min(queue.allocated + queue.pending, (rows.summary.get('summary') || { gpus: { total: 0 } }).gpus.total))));
  const body = byId('queues').querySelector('tbody');
  body.replaceChildren(...tree.map(({ queue, depth }) => {
    const line = add(null, 'tr', { class: queue.isLeaf ? 'leaf' : 'branch' });
    const name = add(line, 'th', { scope: 'row', style: `--depth: ${depth}` });
    if (queue.isLeaf) name.append(chip(queue.name));
    add(name, 'button', { type: 'button', class: 'link', title: 'Show its workloads', onclick: () => setFilter(`queue:${queue.name}`), text: queue.displayName || queue.name });
    add(line, 'td', { class: 'bars' }, ledgerBar(queue, scale * 1.02, 28));
    line.append(numberCell(queue.quota, 'Quota'), numberCell(queue.fairShare, 'Fair share'), numberCell(queue.allocated, 'Allocated'),
      numberCell(queue.borrowed, 'Borrowed'), numberCell(queue.lent, 'Lent'), numberCell(queue.pending, 'Pending'));
    return line;
  }));
  const key = byId('queue-key');
  if (!key.firstChild) {
    for (const [kind, text] of [['held', 'allocated'], ['borrowed', 'borrowed'], ['lent', 'unused quota'], ['pending', 'pending'], ['quota', 'quota'], ['share', 'fair share']]) {
      add(key, 'span', {}, add(null, 'i', { class: `ledger-key ${kind}` }), text);
    }
  }
}
