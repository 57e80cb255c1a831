/* The drawer: one workload, why it waits and what would help, and its events. */

const drawer = { id: '', why: null, whyError: '', events: null, drawn: '', asked: 0 };
const ASK_AGAIN_MS = 5000;

const selectedId = () => drawer.id;

function workloadPath(id) {
  return `${API}/workloads/${id.split('/').map(encodeURIComponent).join('/')}`;
}

async function ask(path) {
  const answer = await fetch(path);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error || `status ${answer.status}`);
  return told;
}

/* Asks once more when the workload has changed, and now and then while it waits. */
async function askWhy() {
  const { id } = drawer;
  const row = rows.workloads.get(id);
  if (!row) return;
  drawer.asked = Date.now();
  const isWaiting = row.state === 'Pending' || row.state === 'Preempting';
  const [why, events] = await Promise.allSettled([isWaiting ? ask(`${workloadPath(id)}/why`) : null, ask(`${workloadPath(id)}/events`)]);
  if (drawer.id !== id) return;
  if (why.status === 'fulfilled') drawer.why = why.value;
  drawer.whyError = why.status === 'rejected' ? why.reason.message : '';
  if (events.status === 'fulfilled') drawer.events = events.value.items;
  drawDrawer();
}

function fact(box, name, ...value) {
  const shown = value.filter((part) => part !== '' && part != null);
  if (shown.length) box.append(add(null, 'dt', { text: name }), add(null, 'dd', {}, ...shown));
}

function factsOf(row) {
  const box = add(null, 'dl', { class: 'facts' });
  fact(box, 'Queue', chip(row.queue), row.queue || '–');
  fact(box, 'GPUs', row.pods.total > 1 && row.gpus ? `${amount(row.gpus)}, ${row.pods.total} pods of ${gpuText(row.gpus / row.pods.total)}` : row.gpus ? amount(row.gpus) : row.gpuMemory);
  fact(box, 'Pods', `${row.pods.total}, ${row.pods.running} running`);
  fact(box, 'Priority', row.priorityClassName);
  fact(box, 'User', row.user);
  fact(box, 'Nodes', row.nodes.join(', '));
  fact(box, 'Submitted', row.created && new Date(row.created).toLocaleString('en-GB'));
  fact(box, 'Started', row.started && new Date(row.started).toLocaleString('en-GB'));
  fact(box, 'Finished', row.finished && new Date(row.finished).toLocaleString('en-GB'));
  fact(box, 'Exit code', row.exitCode);
  return box;
}

/* The queue with this workload: allocated, what it asks for, and how much of that is beyond the fair share. */
function answerBar(queue) {
  const [held, wanted, share, quota] = [queue.allocated.gpu, queue.requested.gpu, queue.fairShare.gpu, queue.quota.gpu];
  const whole = Math.max(held + wanted, share, quota, 1);
  const part = (value) => `${(value / whole) * 100}%`;
  const within = Math.max(0, Math.min(wanted, share - held));
  const bar = add(null, 'div', { class: 'answer-bar' });
  const piece = (value, kind, text) => {
    if (value > 0) add(bar, 'span', { class: kind, style: `width: ${part(value)}; --c: var(${queueColour(queue.name)})`, title: text }, value / whole > 0.12 ? text : '');
  };
  piece(held, 'held', `${amount(held)} allocated`);
  piece(within, 'asked', `${amount(within)} requested`);
  piece(wanted - within, 'beyond', `${amount(wanted - within)} beyond`);
  const marks = add(null, 'div', { class: 'answer-marks' });
  const mark = (value, text, kind) => {
    if (value > 0 && value <= whole) add(marks, 'span', { class: `${kind}${value / whole > 0.8 ? ' left' : ''}`, style: `left: ${part(value)}`, text });
  };
  if (quota === share) mark(share, `${amount(share)} quota and fair share`, 'share');
  else { mark(quota, `${amount(quota)} quota`, 'quota'); mark(share, `${amount(share)} fair share`, 'share'); }
  return add(null, 'div', { class: 'answer-chart', role: 'img', 'aria-label': `Queue ${queue.name}: ${amount(held)} GPUs allocated, ${amount(wanted)} requested, fair share ${amount(share)}, quota ${boundText(quota)}` }, marks, bar);
}

function answerOf(why) {
  const box = add(null, 'section', { class: 'answer' });
  add(box, 'h3', {}, stateIcon(why.outlook), REASON_TITLES[why.reason] || why.reason.replaceAll('_', ' '));
  for (const cause of why.causes || []) add(box, 'p', { text: sentenceText(cause.message) });
  if (!why.causes || !why.causes.length) add(box, 'p', { text: sentenceText(why.message) });
  add(box, 'p', { class: 'dim', text: OUTLOOKS[why.outlook] || '' });
  const queue = (why.queues || [])[0];
  if (queue && queue.fairShare && why.outlook !== 'never') box.append(answerBar(queue));
  return box;
}

function remediesOf(why) {
  const box = add(null, 'section', {});
  add(box, 'h3', {}, 'What would help', add(null, 'small', { text: `each was tried on a copy of the cluster, and works (${countText(why.tries || 0, 'try').replace('trys', 'tries')})` }));
  if (!why.remedies.length) add(box, 'p', { class: 'dim', text: 'None of the changes that Muster tried would help.' });
  const steps = add(box, 'ol', { class: 'remedies' });
  for (const remedy of why.remedies) {
    const item = add(steps, 'li', {}, sentenceText(remedy.text));
    if (remedy.commands && remedy.commands.length) {
      add(item, 'details', {}, add(null, 'summary', { text: 'Command' }), add(null, 'pre', {}, add(null, 'code', { text: remedy.commands.join('\n') })));
    }
  }
  return box;
}

function insufficientText(row) {
  const what = row.resource === 'nvidia.com/gpu' ? 'GPUs' : row.resource;
  return `${countText(row.nodes, 'node')}: insufficient free ${what}. A pod requests ${row.requested}; ${row.node} comes closest and lacks ${row.lacking}.`;
}

function stepsOf(why) {
  const box = add(null, 'section', {});
  const { nodes } = why;
  add(box, 'h3', { text: 'Step by step' });
  const steps = add(box, 'ul', { class: 'steps' });
  const step = (isFine, ...text) => add(steps, 'li', {}, icon(isFine ? 'tick' : 'cross', isFine ? 'good' : 'warn'), add(null, 'span', {}, ...text));
  if (nodes) {
    step(nodes.eligible > 0, `${nodes.eligible} of ${countText(nodes.total, 'node')} ${nodes.total === 1 ? 'is' : 'are'} eligible.`);
    for (const row of nodes.failed || []) step(false, sentenceText(`${countText(row.nodes, 'node')}: ${row.problem || row.reason || row.filter || ''}`));
    for (const row of nodes.insufficient || []) step(false, insufficientText(row));
  }
  for (const queue of why.queues || []) {
    const fits = queue.allocated.gpu + queue.requested.gpu <= queue.fairShare.gpu + 1e-9;
    step(fits, `Queue ${queue.name}: ${amount(queue.allocated.gpu)} GPUs allocated, ${amount(queue.requested.gpu)} requested, fair share ${amount(queue.fairShare.gpu)}, quota ${boundText(queue.quota.gpu)}, limit ${boundText(queue.limit.gpu)}.`);
  }
  return box;
}

function holdersOf(why) {
  const held = (why.holders || []).filter((holder) => holder.allocated.gpu > 0);
  if (!held.length) return null;
  const body = add(null, 'tbody');
  for (const holder of held.slice(0, 50)) {
    add(body, 'tr', {}, add(null, 'th', { scope: 'row' }, chip(holder.queue), holder.workload || 'pods without a workload'), add(null, 'td', { class: 'num', text: amount(holder.allocated.gpu) }),
      add(null, 'td', { class: 'fill', text: protectionText(holder.protection) }));
  }
  const head = add(null, 'tr', {}, add(null, 'th', { scope: 'col', text: 'Workload' }), add(null, 'th', { scope: 'col', class: 'num', text: 'GPUs' }), add(null, 'th', { scope: 'col', text: 'Why it stays' }));
  return add(null, 'section', {}, add(null, 'h3', {}, 'Holds the GPUs', held.length > 50 && add(null, 'small', { text: `the first 50 of ${held.length}` }) || ''),
    add(null, 'div', { class: 'scroll' }, add(null, 'table', { class: 'list' }, add(null, 'thead', {}, head), body)));
}

function eventsOf(events) {
  const box = add(null, 'section', {});
  add(box, 'h3', { text: 'Events' });
  if (!events.length) add(box, 'p', { class: 'dim', text: 'None in the last hour.' });
  const lines = add(box, 'ul', { class: 'events' });
  for (const event of [...events].sort((a, b) => b.time.localeCompare(a.time)).slice(0, 100)) {
    add(lines, 'li', { class: event.type === 'Warning' ? 'warning' : null }, add(null, 'time', { datetime: event.time, text: event.time ? clockText(event.time) : '' }),
      add(null, 'span', {}, add(null, 'b', { text: event.reason }), event.count > 1 ? ` ${event.count} times ` : ' ', add(null, 'span', { class: 'dim', text: event.message })));
  }
  return box;
}

function drawDrawer() {
  const box = byId('drawer');
  const row = rows.workloads.get(drawer.id);
  document.body.classList.toggle('has-drawer', Boolean(drawer.id));
  box.hidden = !drawer.id;
  if (!drawer.id) { drawer.drawn = ''; return; }
  const key = JSON.stringify([row, drawer.why, drawer.whyError, drawer.events]);
  if (key === drawer.drawn) return;
  drawer.drawn = key;
  const hadFocus = box.contains(document.activeElement);
  const { scrollTop } = box;
  const title = row ? nameOf(row.id) : drawer.id.split('/').filter((_, i) => i !== 1).join('/');
  const close = add(null, 'button', { type: 'button', class: 'icon', 'aria-label': 'Close', onclick: () => openWorkload('') }, icon('cross'));
  box.replaceChildren(add(null, 'header', {}, add(null, 'h2', { id: 'drawer-title', text: title }), close));
  if (!row) {
    add(box, 'p', { text: 'There is no such workload any more. It may have been deleted.' });
  } else {
    const isWaiting = row.state === 'Pending' || row.state === 'Preempting';
    box.append(add(null, 'p', { class: 'pill-line' }, add(null, 'span', { class: `pill ${(SHAPES[row.state] || [])[1] || 'dim'}` }, stateIcon(row.state), row.state), add(null, 'span', { class: 'dim', text: isWaiting ? row.reasonText : '' })));
    if (isWaiting && drawer.why) box.append(...[answerOf(drawer.why), remediesOf(drawer.why), stepsOf(drawer.why), holdersOf(drawer.why)].filter(Boolean));
    else if (isWaiting) add(box, 'p', { class: 'dim', text: drawer.whyError ? `Muster could not explain it: ${drawer.whyError}` : 'Asking the scheduler.' });
    else if (row.message) add(box, 'p', { text: sentenceText(row.message) });
    box.append(factsOf(row));
    if (drawer.events) box.append(eventsOf(drawer.events));
  }
  box.scrollTop = scrollTop;
  if (hadFocus) close.focus();
}

function openWorkload(id) {
  if (id === drawer.id) return;
  const before = drawer.id;
  Object.assign(drawer, { id, why: null, whyError: '', events: null, asked: 0 });
  writeAddress();
  drawDrawer();
  drawWorkloads();
  paintMap();
  if (id) askWhy();
  else if (list.lines.has(before)) list.lines.get(before).focus();
}

function tickDrawer() {
  if (drawer.id && Date.now() - drawer.asked > ASK_AGAIN_MS) askWhy();
}
