/*
 * Who had which GPU when. Bars are many, so they are drawn on a canvas, and only those that can be seen. Dragging moves
 * in time, Ctrl with the wheel, two fingers or the buttons zoom, scrolling goes through the nodes.
 */

const BAR_WORDS = 5;
const ENDS = ['still running', 'completed', 'evicted', 'node failed'];

/* Bars by node, in the order of time. */
function ganttRows(gantt) {
  const words = unpack(gantt.bars);
  const count = words.length / BAR_WORDS;
  const byNode = new Map(gantt.nodes.map(([id]) => [id, []]));
  for (let i = 0; i < count; i++) {
    const list = byNode.get(words[i * BAR_WORDS] & 0xffffff);
    if (list) list.push(i * BAR_WORDS);
  }
  const lane = gantt.nodes.length > 40 ? 3 : gantt.nodes.length > 12 ? 4 : 7;
  let top = 0;
  const rows = gantt.nodes.map(([id, name, lanes]) => {
    const row = { name, lanes, top, height: Math.max(14, lanes * lane) + 5, bars: Uint32Array.from(byNode.get(id)) };
    top += row.height;
    return row;
  });
  return { words, rows, height: top, lane };
}

class Gantt {
  constructor(parent, sim, colors) {
    this.sim = sim;
    this.colors = colors;
    Object.assign(this, ganttRows(sim.gantt));
    this.queueOf = sim.gantt.queueOf;
    this.from = 0;
    this.to = sim.seconds || 1;
    this.build(parent);
  }

  build(parent) {
    const tools = add(parent, 'div', { class: 'tools', role: 'toolbar', 'aria-label': 'Zoom' });
    const button = (text, label, act) => add(tools, 'button', { type: 'button', text, 'aria-label': label, title: label, onclick: act });
    button('+', 'Zoom in', () => this.zoom(0.5));
    button('−', 'Zoom out', () => this.zoom(2));
    button('◀', 'Earlier', () => this.shift(-0.5));
    button('▶', 'Later', () => this.shift(0.5));
    button('All', 'Show everything', () => this.show(0, this.sim.seconds));
    this.range = add(tools, 'span', { class: 'dim' });
    const frame = add(parent, 'div', { class: 'gantt' });
    this.scroller = add(frame, 'div', { class: 'rows' });
    this.spacer = add(this.scroller, 'div');
    this.canvas = add(this.spacer, 'canvas', { tabindex: '0', role: 'img', 'aria-label': this.describe() });
    this.scroller.addEventListener('scroll', () => this.draw());
    this.listen();
    onWidth(frame, (width) => {
      this.width = width;
      const least = Math.min(this.height + 28, this.scroller.clientHeight);
      if (this.height + 28 < this.scroller.clientHeight) this.scroller.style.height = `${this.height + 28}px`;
      this.viewHeight = Math.max(least, 60);
      this.spacer.style.height = `${Math.max(this.height + 28, this.viewHeight)}px`;
      this.draw();
    });
  }

  describe() {
    const bars = this.words.length / BAR_WORDS;
    return `Gantt chart of ${this.rows.length} nodes with ${formatNumber(bars)} bars, one for each stay of a pod on GPUs of a node, coloured by queue.`;
  }

  show(from, to) {
    const whole = this.sim.seconds || 1;
    const span = Math.min(whole, Math.max(whole / 20000, 1e-3, to - from));
    this.from = Math.max(0, Math.min(whole - span, from));
    this.to = this.from + span;
    this.draw();
  }

  zoom(factor, at = 0.5) {
    const middle = this.from + (this.to - this.from) * at;
    const span = (this.to - this.from) * factor;
    this.show(middle - span * at, middle + span * (1 - at));
  }

  shift(part) {
    const by = (this.to - this.from) * part;
    this.show(this.from + by, this.to + by);
  }

  get left() { return this.width < 560 ? 70 : 104; }

  draw() {
    if (!this.width || this.isPlanned) return;
    this.isPlanned = true;
    requestAnimationFrame(() => {
      this.isPlanned = false;
      this.paint();
    });
  }

  paint() {
    const ratio = window.devicePixelRatio || 1;
    const { canvas, width, viewHeight: height } = this;
    const style = getComputedStyle(document.documentElement);
    const ink = (name) => style.getPropertyValue(name).trim();
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = `${height}px`;
    const c = canvas.getContext('2d');
    c.scale(ratio, ratio);
    c.clearRect(0, 0, width, height);
    c.font = '11.5px system-ui, sans-serif';
    this.paintAxis(c, ink, height);
    const scroll = this.scroller.scrollTop;
    c.save();
    c.beginPath();
    c.rect(0, 24, width, height - 24);
    c.clip();
    let drawn = 0;
    for (const row of this.rows) {
      const y = row.top - scroll + 26;
      if (y + row.height < 24) continue;
      if (y > height) break;
      drawn += this.paintRow(c, ink, row, y);
    }
    c.restore();
    canvas.dataset.bars = drawn;
    this.range.textContent = `${formatMoment(this.sim.start + this.from, this.to - this.from)} – ${formatMoment(this.sim.start + this.to, this.to - this.from)} (${formatSeconds(this.to - this.from)})`;
  }

  x(seconds) {
    return this.left + (seconds - this.from) / (this.to - this.from) * (this.width - this.left - 4);
  }

  paintAxis(c, ink, height) {
    c.fillStyle = ink('--dim');
    c.strokeStyle = ink('--grid');
    c.textAlign = 'center';
    for (const tick of timeTicks(this.sim.start, this.from, this.to, Math.max(2, Math.floor((this.width - this.left) / 90)))) {
      const x = Math.round(this.x(tick.at)) + 0.5;
      if (x < this.left + 20 || x > this.width - 24) continue;
      c.fillText(tick.label, x, 15);
      c.beginPath();
      c.moveTo(x, 24);
      c.lineTo(x, height);
      c.stroke();
    }
  }

  paintRow(c, ink, row, y) {
    const inner = row.height - 5;
    const lane = inner / row.lanes;
    const name = row.name.length > this.left / 6.5 ? `${row.name.slice(0, Math.floor(this.left / 6.5) - 1)}…` : row.name;
    c.fillStyle = ink('--grid');
    c.globalAlpha = 0.6;
    c.fillRect(this.left, y, this.width - this.left - 4, inner);
    c.globalAlpha = 1;
    c.fillStyle = ink('--dim');
    c.textAlign = 'left';
    c.fillText(name, 6, y + Math.min(inner, 12 + (inner - 12) / 2) - 1);
    const unit = this.sim.gantt.unit;
    let drawn = 0;
    for (const at of row.bars) {
      const start = this.words[at + 2] * unit;
      const end = start + this.words[at + 3] * unit;
      if (end < this.from || start > this.to) continue;
      const x0 = Math.max(this.left, this.x(start));
      const x1 = Math.min(this.width - 4, this.x(end));
      const place = this.words[at + 4];
      const top = y + (place >>> 16) / 100 * lane;
      const size = Math.max(1, (place & 0xffff) / 100 * lane - (lane >= 4 ? 0.6 : 0));
      const how = this.words[at] >>> 24;
      c.fillStyle = this.colors(this.queueOf(this.words[at + 1]), ink);
      c.fillRect(x0, top, Math.max(0.75, x1 - x0 - (x1 - x0 > 4 ? 0.8 : 0)), size);
      if (how >= 2 && x1 - x0 > 3) {
        c.fillStyle = ink('--bad');
        c.fillRect(x1 - 2.5, top, 2, size);
      }
      drawn++;
    }
    return drawn;
  }

  barAt(clientX, clientY) {
    const box = this.canvas.getBoundingClientRect();
    const seconds = this.from + (clientX - box.left - this.left) / (this.width - this.left - 4) * (this.to - this.from);
    const y = clientY - box.top - 26 + this.scroller.scrollTop;
    const row = this.rows.find((r) => y >= r.top && y < r.top + r.height - 5);
    if (!row || clientX - box.left < this.left || clientY - box.top < 24) return null;
    const place = (y - row.top) / ((row.height - 5) / row.lanes) * 100;
    const unit = this.sim.gantt.unit;
    const slack = (this.to - this.from) / this.width;
    for (let i = row.bars.length - 1; i >= 0; i--) {
      const at = row.bars[i];
      const start = this.words[at + 2] * unit;
      const top = this.words[at + 4] >>> 16;
      if (seconds < start - slack || seconds > start + this.words[at + 3] * unit + slack) continue;
      if (place >= top && place < top + (this.words[at + 4] & 0xffff)) return { at, row, start };
    }
    return null;
  }

  hover(event) {
    const hit = this.barAt(event.clientX, event.clientY);
    if (!hit) {
      tooltip.hide();
      return;
    }
    const job = this.words[hit.at + 1];
    const queue = this.sim.queues[this.queueOf(job)];
    const gpus = (this.words[hit.at + 4] & 0xffff) / 100;
    tooltip.show(event.clientX, event.clientY, this.sim.gantt.jobs[job], [
      { name: 'queue', value: queue ? queue.name : '–' },
      { name: 'node', value: hit.row.name },
      { name: 'GPUs', value: formatNumber(gpus) },
      { name: 'from', value: formatMoment(this.sim.start + hit.start, this.sim.seconds) },
      { name: 'for', value: formatSeconds(this.words[hit.at + 3] * this.sim.gantt.unit) },
      { name: 'end', value: ENDS[this.words[hit.at] >>> 24] },
    ]);
  }

  listen() {
    const fingers = new Map();
    const { canvas } = this;
    let pinch = 0;
    const part = (clientX) => (clientX - canvas.getBoundingClientRect().left - this.left) / (this.width - this.left - 4);
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return Math.abs(a - b);
    };
    canvas.addEventListener('pointerdown', (event) => {
      fingers.set(event.pointerId, event.clientX);
      canvas.setPointerCapture(event.pointerId);
      if (fingers.size === 2) pinch = spread();
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!fingers.has(event.pointerId)) {
        this.hover(event);
        return;
      }
      const by = (fingers.get(event.pointerId) - event.clientX) / (this.width - this.left) * (this.to - this.from);
      fingers.set(event.pointerId, event.clientX);
      tooltip.hide();
      if (fingers.size === 1) {
        this.show(this.from + by, this.to + by);
      } else if (pinch > 10 && spread() > 10) {
        this.zoom(pinch / spread(), part(event.clientX));
        pinch = spread();
      }
    });
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
    canvas.addEventListener('pointerleave', () => tooltip.hide());
    canvas.addEventListener('dblclick', (event) => this.zoom(0.4, part(event.clientX)));
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      if (event.ctrlKey) this.zoom(event.deltaY > 0 ? 1.25 : 0.8, part(event.clientX));
      else this.shift((event.deltaY || event.deltaX) > 0 ? 0.1 : -0.1);
    }, { passive: false });
    canvas.addEventListener('keydown', (event) => {
      const acts = { '+': () => this.zoom(0.5), '-': () => this.zoom(2), ArrowLeft: () => this.shift(-0.2), ArrowRight: () => this.shift(0.2), Home: () => this.show(0, this.sim.seconds) };
      if (!acts[event.key]) return;
      event.preventDefault();
      acts[event.key]();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }
}
