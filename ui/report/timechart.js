/*
 * Numbers over time: stacked areas, lines on top, and a cross that names the values under the pointer or the arrow keys.
 */

const PAD = { left: 46, right: 10, top: 10, bottom: 26 };

function stack(layers, count) {
  const sums = new Float64Array(count);
  return layers.map((layer) => {
    const low = Float64Array.from(sums);
    for (let i = 0; i < count; i++) sums[i] += layer.values[i] || 0;
    return { layer, low, high: Float64Array.from(sums) };
  });
}

function linePath(values, x, y) {
  let path = '';
  for (let i = 0; i < values.length; i++) path += `${i ? 'L' : 'M'}${x(i).toFixed(1)},${y(values[i]).toFixed(1)}`;
  return path;
}

function areaPath(low, high, x, y) {
  let path = linePath(high, x, y);
  for (let i = low.length - 1; i >= 0; i--) path += `L${x(i).toFixed(1)},${y(low[i]).toFixed(1)}`;
  return `${path}Z`;
}

function drawAxes(svg, chart, width, height, y, xOf) {
  const right = width - PAD.right;
  for (const value of valueTicks(chart.max, height < 160 ? 3 : 5)) {
    add(svg, 'svg:line', { class: 'gridline', x1: PAD.left, x2: right, y1: y(value), y2: y(value) });
    add(svg, 'svg:text', { x: PAD.left - 8, y: y(value) + 4, 'text-anchor': 'end', text: chart.format ? chart.format(value) : formatNumber(value) });
  }
  const ticks = timeTicks(chart.start, 0, chart.seconds, Math.max(2, Math.floor((right - PAD.left) / (chart.seconds < 172800 ? 64 : 88))));
  for (const tick of ticks) {
    const x = xOf(tick.at);
    add(svg, 'svg:line', { class: 'axis', x1: x, x2: x, y1: height - PAD.bottom, y2: height - PAD.bottom + 4 });
    const anchor = x > right - 30 ? 'end' : x < PAD.left + 24 ? 'start' : 'middle';
    add(svg, 'svg:text', { x, y: height - 6, 'text-anchor': anchor, text: tick.label });
  }
  add(svg, 'svg:line', { class: 'axis', x1: PAD.left, x2: right, y1: height - PAD.bottom, y2: height - PAD.bottom });
}

function barPath(low, high, edge, y) {
  let path = '';
  for (let i = 0; i < low.length; i++) {
    if (high[i] <= low[i]) continue;
    const [x0, x1] = [edge(i) + 0.4, edge(i + 1) - 0.4];
    path += `M${x0.toFixed(1)},${y(low[i]).toFixed(1)}V${y(high[i]).toFixed(1)}H${Math.max(x1, x0 + 1.5).toFixed(1)}V${y(low[i]).toFixed(1)}Z`;
  }
  return path;
}

function drawMarks(svg, chart, x, y, edge) {
  for (const { layer, low, high } of chart.stacked)
    add(svg, 'svg:path', { class: 'mark', d: chart.isBars ? barPath(low, high, edge, y) : areaPath(low, high, x, y), style: `fill: ${layer.color}; opacity: ${layer.opacity || 0.78}` });
  for (const line of chart.lines)
    add(svg, 'svg:path', {
      class: 'mark', d: linePath(line.values, x, y),
      style: `fill: none; stroke: ${line.color}; stroke-width: ${line.width || 1.6}; stroke-linejoin: round; ${line.dash ? 'stroke-dasharray: 5 4' : ''}`,
    });
}

/* The name of a line, above its right end, with an edge so that it can be read on every area. */
function drawLabels(svg, chart, x, y) {
  for (const line of chart.lines.filter((l) => l.label)) {
    const last = line.values.length - 1;
    add(svg, 'svg:text', { class: 'label', x: x(last), y: y(Math.max(...line.values)) - 5, 'text-anchor': 'end', text: line.label });
  }
}

function crossRows(chart, i) {
  const format = chart.format || formatNumber;
  const rows = chart.lines.map((line) => ({ name: line.name, color: line.color, value: format(line.values[i]) }));
  for (const { layer } of [...chart.stacked].reverse())
    if (layer.values[i] > 0 || chart.stacked.length < 6) rows.push({ name: layer.name, color: layer.color, value: format(layer.values[i]) });
  return rows;
}

function addCross(svg, chart, geometry) {
  const { width, height, count, x } = geometry;
  const cross = add(svg, 'svg:line', { class: 'cross', y1: PAD.top, y2: height - PAD.bottom, visibility: 'hidden' });
  let at = -1;
  const moveTo = (i, clientX, clientY) => {
    at = Math.max(0, Math.min(count - 1, i));
    cross.setAttribute('x1', x(at));
    cross.setAttribute('x2', x(at));
    cross.setAttribute('visibility', 'visible');
    const when = formatMoment(chart.start + Math.min((at + 0.5) * chart.step, chart.seconds), chart.seconds);
    tooltip.show(clientX, clientY, when, crossRows(chart, at));
  };
  const hide = () => {
    cross.setAttribute('visibility', 'hidden');
    tooltip.hide();
  };
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const seconds = ((event.clientX - box.left) * width / box.width - PAD.left) / (width - PAD.left - PAD.right) * chart.seconds;
    if (seconds < 0 || seconds > chart.seconds) hide();
    else moveTo(Math.floor(seconds / chart.step), event.clientX, event.clientY);
  });
  svg.addEventListener('pointerleave', hide);
  svg.addEventListener('blur', hide);
  svg.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (event.key === 'Escape') hide();
    if (!by) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    const next = at < 0 ? 0 : at + by;
    moveTo(next, box.left + x(Math.max(0, Math.min(count - 1, next))) * box.width / width, box.top + 20);
  });
}

/*
 * chart: {label, start, seconds, step, height, layers: [{name, color, values}], lines: [{name, color, values, dash, label}], top?, isFixed?}
 * The scale goes up to `top` at least; with `isFixed` it ends there, and what is higher is cut off.
 */
function timeChart(parent, chart) {
  const holder = add(parent, 'div', { class: 'chart' });
  const draw = (width) => {
    const height = chart.height;
    const count = chart.count;
    chart.stacked = stack((chart.layers || []).filter((layer) => !layer.isHidden), count);
    const tops = chart.stacked.length ? chart.stacked[chart.stacked.length - 1].high : [0];
    let max = chart.top || 0;
    for (const value of tops) max = Math.max(max, value);
    for (const line of chart.lines) for (const value of line.values) max = Math.max(max, value);
    chart.max = (chart.isFixed ? chart.top : max || 1) * (chart.lines.some((line) => line.label) ? 1.12 : 1.06);
    const inner = width - PAD.left - PAD.right;
    const y = (value) => height - PAD.bottom - Math.min(value, chart.max) / chart.max * (height - PAD.top - PAD.bottom);
    const xOf = (seconds) => PAD.left + seconds / chart.seconds * inner;
    const x = (i) => xOf(Math.min((i + 0.5) * chart.step, chart.seconds));
    const svg = add(null, 'svg:svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': chart.label, tabindex: '0' });
    drawAxes(svg, chart, width, height, y, xOf);
    drawMarks(svg, chart, x, y, (i) => xOf(Math.min(i * chart.step, chart.seconds)));
    drawLabels(svg, chart, x, y);
    addCross(svg, chart, { width, height, count, x });
    holder.replaceChildren(svg);
  };
  onWidth(holder, draw);
  chart.redraw = () => draw(Math.floor(holder.clientWidth));
  return chart;
}

/* A legend whose entries switch layers on and off; lines are only named. */
function legend(parent, chart) {
  const list = add(parent, 'ul', { class: 'legend' });
  for (const layer of chart.layers || []) {
    const button = add(null, 'button', { type: 'button', 'aria-pressed': 'true' }, add(null, 'i', { class: 'key', style: `--c: ${layer.color}` }), layer.name);
    button.addEventListener('click', () => {
      layer.isHidden = !layer.isHidden;
      button.setAttribute('aria-pressed', String(!layer.isHidden));
      chart.redraw();
    });
    add(list, 'li', {}, button);
  }
  for (const line of chart.lines)
    add(list, 'li', {}, add(null, 'span', { class: 'item' }, add(null, 'i', { class: `key stroke${line.dash ? ' dash' : ''}`, style: `--c: ${line.color}` }), line.name));
}
