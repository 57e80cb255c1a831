/* Puts the parts together: the sentence, the numbers, the address, and when everything is drawn. */

/* The address says what is shown: #w=WORKLOAD&s=STATE&q=FILTER. */
function writeAddress() {
  const parts = new URLSearchParams();
  if (drawer.id) parts.set('w', drawer.id);
  if (list.state !== 'all') parts.set('s', list.state);
  if (list.words) parts.set('q', list.words);
  const text = parts.toString();
  if (text !== location.hash.slice(1)) history.pushState(null, '', text ? `#${text}` : location.pathname);
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const id = parts.get('w') || '';
  list.state = STATES.some(([state]) => state === parts.get('s')) ? parts.get('s') : 'all';
  list.words = parts.get('q') || '';
  byId('filter').value = list.words;
  if (id !== drawer.id) {
    Object.assign(drawer, { id, why: null, whyError: '', events: null, asked: 0 });
    if (id) askWhy();
  }
  draw();
}

/* At most two things, the worst first. */
function leadText({ gpus: g, workloads: w }, nodes) {
  const lost = nodes.filter((node) => !node.isReady).length;
  const said = [];
  if (!nodes.length) return 'There are no nodes yet.';
  if (lost) said.push(`${countText(lost, 'node')} ${lost === 1 ? 'is' : 'are'} not ready.`);
  said.push(`${amount(g.allocated)} of ${gpuText(g.total)} are allocated${w.Pending ? '' : ', and nothing waits'}.`);
  if (w.Pending) said.push(`${countText(w.Pending, 'workload')} ${w.Pending === 1 ? 'waits' : 'wait'} for ${gpuText(g.pending)}.`);
  return said.slice(0, 2).join(' ');
}

function drawStrip({ gpus: g, workloads: w }) {
  const waiting = [...rows.workloads.values()].filter((row) => row.state === 'Pending').map((row) => Date.parse(row.created || 0));
  const longest = waiting.length ? `longest ${elapsedText(now() - Math.min(...waiting))}` : 'nothing waits';
  const numbers = [
    ['Allocated', amount(g.allocated), `of ${gpuText(g.total)}`, null],
    ['Free', amount(g.free), g.free ? `largest piece ${amount(g.largestFree)}` : '', null],
    ['Running', String(w.Running), w.Running === 1 ? 'workload' : 'workloads', 'running'],
    ['Pending', String(w.Pending), longest, 'pending'],
    ['Finished', String(w.Completed + w.Failed), w.Failed ? `${w.Failed} failed` : '', 'finished'],
  ];
  const strip = byId('strip');
  if (!strip.firstChild) {
    for (const [name, , , state] of numbers) {
      const value = add(null, 'dd', {}, add(null, state ? 'button' : 'b', { type: state ? 'button' : null, class: state ? 'number' : null }), add(null, 'small'));
      if (state) value.firstChild.addEventListener('click', () => { setState(state); byId('workloads').scrollIntoView({ block: 'start' }); });
      add(strip, 'div', {}, add(null, 'dt', { text: name }), value);
    }
  }
  numbers.forEach(([, number, note], i) => {
    const value = strip.children[i].lastChild;
    setText(value.firstChild, number);
    setText(value.lastChild, note);
  });
}

function drawNumbers() {
  const summary = rows.summary.get('summary');
  if (!summary) return;
  setText(byId('lead'), leadText(summary, [...rows.nodes.values()]));
  drawStrip(summary);
  document.title = summary.workloads.Pending ? `Muster (${summary.workloads.Pending} pending)` : 'Muster';
}

function draw() {
  if (!rows.summary.size) return;
  colourQueues();
  drawNumbers();
  drawMap();
  drawMapKey();
  drawQueues();
  drawWorkloads();
  drawDrawer();
  document.documentElement.dataset.ready = 'yes';
}

function everySecond() {
  tickWorkloads();
  tickDrawer();
  drawNumbers();
  showLive();
  if (connect.watch) connect.watch();
}

startKeys();
startWorkloads();
byId('map-form').addEventListener('click', (event) => {
  map.isTable = !map.isTable;
  event.target.setAttribute('aria-pressed', String(map.isTable));
  drawMap();
});
onWidth(byId('map'), () => { if (rows.summary.size && !map.isTable) drawMap(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paintMap);
addEventListener('popstate', readAddress);
readAddress();
connect('');
setInterval(everySecond, 1000);
