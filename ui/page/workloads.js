/* The list of workloads. Rows do not move while the pointer or the focus is on them. */

const STEP = 200;
const STATES = [['all', 'All'], ['pending', 'Pending'], ['running', 'Running'], ['finished', 'Finished']];
const ORDER = { Preempting: 0, Pending: 1, Running: 2, Terminating: 3, Suspended: 4, Failed: 5, Completed: 6 };

const list = { state: 'all', words: '', shown: STEP, lines: new Map(), order: [], isHeld: false };

const isFinished = (row) => row.state === 'Completed' || row.state === 'Failed';
const nameOf = (id) => (rows.workloads.has(id) ? `${rows.workloads.get(id).namespace}/${rows.workloads.get(id).jobName || rows.workloads.get(id).name}` : '');

function isInState(row, state) {
  if (state === 'all') return true;
  if (state === 'finished') return isFinished(row);
  return state === 'pending' ? row.state === 'Pending' || row.state === 'Preempting' : row.state === 'Running';
}

function isInQueue(row, wanted) {
  for (let name = row.queue; name; name = (rows.queues.get(name) || {}).parent) if (name === wanted) return true;
  return false;
}

/* Every word has to be found: "queue:research", "node:gpu-1", or anywhere in the row. */
function matches(row, words) {
  return words.toLowerCase().split(/\s+/).filter(Boolean).every((word) => {
    if (word.startsWith('queue:')) return isInQueue(row, word.slice(6));
    if (word.startsWith('node:')) return row.nodes.some((node) => node.toLowerCase() === word.slice(5));
    return [row.namespace, row.name, row.jobName, row.kind, row.queue, row.user, row.state, row.reasonText, row.jobId, ...row.nodes]
      .some((text) => (text || '').toLowerCase().includes(word));
  });
}

function byUrgency(a, b) {
  const order = ORDER[a.state] - ORDER[b.state];
  if (order) return order;
  if (isFinished(a)) return (b.finished || '').localeCompare(a.finished || '') || a.id.localeCompare(b.id);
  return (a.created || '').localeCompare(b.created || '') || a.id.localeCompare(b.id);
}

/* How long it waits, runs or ran. */
function timeOf(row) {
  const at = (text) => (text ? Date.parse(text) : 0);
  if (isFinished(row)) return row.started && row.finished ? elapsedText(at(row.finished) - at(row.started)) : '–';
  return elapsedText(now() - (at(row.state === 'Running' ? row.started : '') || at(row.created) || now()));
}

function makeLine(id) {
  const line = add(null, 'tr', { tabindex: '-1', 'data-id': id, onclick: () => openWorkload(id) });
  const head = add(line, 'th', { scope: 'row' });
  head.append(chip(''));
  add(head, 'a', { href: `#w=${encodeURIComponent(id)}`, onclick: (event) => event.preventDefault() });
  add(head, 'small', {});
  add(line, 'td', { class: 'state' });
  add(line, 'td', { class: 'queue' });
  add(line, 'td', { class: 'num gpus' });
  add(line, 'td', { class: 'num wide' });
  add(line, 'td', { class: 'wide fill' });
  add(line, 'td', { class: 'num time' });
  return line;
}

function fillState(cell, row) {
  const reason = isFinished(row) && !row.exitCode ? '' : row.reasonText;
  const key = `${row.state}|${reason}`;
  if (cell.dataset.key === key) return;
  cell.dataset.key = key;
  cell.replaceChildren(stateIcon(row.state), add(null, 'b', { text: row.state }));
  if (reason) add(cell, 'span', { class: 'dim', text: reason });
}

function fillLine(line, row) {
  const [head, state, queue, gpu, pods, nodes, time] = line.children;
  const name = row.jobName || row.name;
  head.firstChild.style.background = `var(${queueColour(row.queue)})`;
  setText(head.children[1], name);
  setText(head.lastChild, [row.namespace !== row.queue && row.namespace, row.kind !== 'Job' && row.kind, row.user].filter(Boolean).join(' · '));
  fillState(state, row);
  if (queue.dataset.key !== `${row.queue}${queueColour(row.queue)}`) {
    queue.dataset.key = `${row.queue}${queueColour(row.queue)}`;
    queue.replaceChildren(chip(row.queue), row.queue || '–');
  }
  setText(gpu, row.gpus ? amount(row.gpus) : row.gpuMemory || '–');
  setText(pods, row.state === 'Running' && row.pods.running !== row.pods.total ? `${row.pods.running} of ${row.pods.total}` : String(row.pods.total));
  setText(nodes, row.nodes.length > 3 ? `${row.nodes.slice(0, 2).join(', ')} and ${row.nodes.length - 2} more` : row.nodes.join(', ') || '–');
  setText(time, timeOf(row));
  line.classList.toggle('selected', row.id === selectedId());
}

function drawStates() {
  const box = byId('states');
  if (!box.firstChild) {
    for (const [state, text] of STATES) add(box, 'button', { type: 'button', 'data-state': state, onclick: () => setState(state) }, `${text} `, add(null, 'b'));
  }
  for (const button of box.children) {
    const number = [...rows.workloads.values()].filter((row) => isInState(row, button.dataset.state)).length;
    button.setAttribute('aria-pressed', String(button.dataset.state === list.state));
    setText(button.lastChild, String(number));
  }
}

function chosenRows() {
  const chosen = [...rows.workloads.values()].filter((row) => isInState(row, list.state) && matches(row, list.words)).sort(byUrgency);
  if (!list.isHeld) return chosen;
  const rank = new Map(list.order.map((id, i) => [id, i]));
  const place = (row) => (rank.has(row.id) ? rank.get(row.id) : Infinity);
  return chosen.sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

function drawEmpty(found) {
  const empty = byId('empty');
  empty.hidden = found > 0;
  if (found > 0) return;
  if (rows.workloads.size) {
    empty.replaceChildren('Nothing matches. ', add(null, 'button', { type: 'button', class: 'more', onclick: () => { setState('all'); setFilter(''); }, text: `Show all ${rows.workloads.size}` }));
  } else {
    empty.replaceChildren('Nothing has been submitted yet. A workload is a job, a notebook or a service that asks for GPUs: ',
      add(null, 'code', { text: 'muster submit --gpus 1 -- python train.py' }));
  }
}

function drawWorkloads() {
  const chosen = chosenRows();
  const visible = chosen.slice(0, list.shown);
  const body = byId('workloads').querySelector('tbody');
  const wanted = new Set(visible.map((row) => row.id));
  for (const [id, line] of list.lines) if (!wanted.has(id)) { line.remove(); list.lines.delete(id); }
  visible.forEach((row, i) => {
    if (!list.lines.has(row.id)) list.lines.set(row.id, makeLine(row.id));
    const line = list.lines.get(row.id);
    fillLine(line, row);
    if (body.children[i] !== line) body.insertBefore(line, body.children[i] || null);
  });
  list.order = chosen.map((row) => row.id);
  drawStates();
  const isAll = chosen.length === rows.workloads.size;
  setText(byId('found'), isAll ? String(chosen.length) : `${chosen.length} of ${rows.workloads.size}`);
  const more = byId('more-rows');
  more.hidden = chosen.length <= list.shown;
  setText(more, `Show ${Math.min(STEP, chosen.length - list.shown)} more of ${chosen.length - list.shown}`);
  drawEmpty(chosen.length);
}

function tickWorkloads() {
  for (const [id, line] of list.lines) if (rows.workloads.has(id)) setText(line.lastChild, timeOf(rows.workloads.get(id)));
}

function setState(state) {
  list.state = state;
  list.shown = STEP;
  writeAddress();
  drawWorkloads();
}

function setFilter(words) {
  list.words = words;
  list.shown = STEP;
  byId('filter').value = words;
  writeAddress();
  drawWorkloads();
}

function startWorkloads() {
  const body = byId('workloads').querySelector('tbody');
  const hold = (isHeld) => () => {
    list.isHeld = isHeld || body.contains(document.activeElement);
    if (!list.isHeld) drawWorkloads();
  };
  body.addEventListener('mouseenter', hold(true));
  body.addEventListener('mouseleave', hold(false));
  body.addEventListener('focusin', hold(true));
  body.addEventListener('focusout', () => setTimeout(hold(false)));
  byId('filter').addEventListener('input', (event) => setFilter(event.target.value));
  byId('more-rows').addEventListener('click', () => { list.shown += STEP; drawWorkloads(); });
}
