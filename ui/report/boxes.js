/* Waiting times as boxes on a logarithmic scale: half of the workloads in the box, nine of ten within the whiskers. */

const WAIT_TICKS = [[0, '0'], [10, '10s'], [60, '1m'], [600, '10m'], [3600, '1h'], [21600, '6h'], [86400, '1d'], [604800, '7d'], [2592000, '30d']];

/* Up to 10 seconds in proportion, from there by factors. */
function waitScale(max, left, right) {
  const f = (seconds) => (seconds <= 10 ? seconds / 10 : 1 + Math.log(seconds / 10) * 0.62);
  const span = f(Math.max(max, 60));
  return (seconds) => left + f(seconds) / span * (right - left);
}

function drawBox(svg, row, y, x, color) {
  const [least, p5, p25, p50, p75, p95, most] = row.p;
  const middle = y + 11;
  add(svg, 'svg:line', { class: 'mark', x1: x(p5), x2: x(p95), y1: middle, y2: middle, style: `stroke: ${color}; stroke-width: 1.5; opacity: 0.75` });
  for (const end of [p5, p95]) add(svg, 'svg:line', { x1: x(end), x2: x(end), y1: middle - 4, y2: middle + 4, style: `stroke: ${color}; stroke-width: 1.5; opacity: 0.75` });
  add(svg, 'svg:rect', { class: 'mark', x: x(p25), y: y + 3, width: Math.max(2, x(p75) - x(p25)), height: 16, rx: 3, style: `fill: ${color}; opacity: 0.45` });
  add(svg, 'svg:line', { class: 'mark', x1: x(p50), x2: x(p50), y1: y + 1, y2: y + 21, style: `stroke: ${color}; stroke-width: 3` });
  add(svg, 'svg:circle', { class: 'mark', cx: x(most), cy: middle, r: 2.6, style: `fill: ${color}` });
  const names = ['shortest', '5%', '25%', 'median', '75%', '95%', 'longest'];
  return [least, p5, p25, p50, p75, p95, most].map((value, i) => ({ name: names[i], value: formatSeconds(value) }));
}

/* rows: [{name, jobs, p: [...], color}] */
function boxChart(parent, label, rows) {
  const holder = add(parent, 'div', { class: 'chart' });
  if (!rows.length) {
    add(holder, 'p', { class: 'empty', text: 'No workloads.' });
    return;
  }
  const max = Math.max(...rows.map((row) => row.p[6]));
  onWidth(holder, (width) => {
    const left = Math.min(150, Math.max(...rows.map((row) => row.name.length)) * 7 + 14);
    const right = width - 62;
    const height = rows.length * 28 + 28;
    const x = waitScale(max, left, right);
    const svg = add(null, 'svg:svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
    let last = -Infinity;
    for (const [seconds, text] of WAIT_TICKS) {
      const at = x(seconds);
      if (seconds > Math.max(max, 60) || at > right + 1) break;
      add(svg, 'svg:line', { class: 'gridline', x1: at, x2: at, y1: 0, y2: height - 24 });
      if (at - last < 40) continue;
      last = at;
      add(svg, 'svg:text', { x: at, y: height - 8, 'text-anchor': 'middle', text });
    }
    rows.forEach((row, i) => {
      const y = i * 28 + 2;
      add(svg, 'svg:text', { class: 'strong', x: 0, y: y + 15, text: row.name.length > 20 ? `${row.name.slice(0, 19)}…` : row.name });
      const values = drawBox(svg, row, y, x, row.color);
      add(svg, 'svg:text', { x: width, y: y + 15, 'text-anchor': 'end', text: `n = ${formatNumber(row.jobs)}` });
      const target = add(svg, 'svg:rect', { x: 0, y, width, height: 26, fill: 'transparent' });
      target.addEventListener('pointermove', (event) => tooltip.show(event.clientX, event.clientY, `${row.name}: waits of ${formatNumber(row.jobs)}`, values));
      target.addEventListener('pointerleave', () => tooltip.hide());
    });
    holder.replaceChildren(svg);
  });
}

/* Plain bars, longest first. rows: [{name, value, color, text}] */
function barChart(parent, label, rows) {
  const holder = add(parent, 'div', { class: 'chart' });
  const max = Math.max(1e-9, ...rows.map((row) => row.value));
  onWidth(holder, (width) => {
    const left = Math.min(150, Math.max(4, ...rows.map((row) => row.name.length)) * 7 + 14);
    const right = width - 104;
    const height = rows.length * 26 + 4;
    const svg = add(null, 'svg:svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
    rows.forEach((row, i) => {
      const y = i * 26;
      add(svg, 'svg:text', { class: 'strong', x: 0, y: y + 16, text: row.name.length > 20 ? `${row.name.slice(0, 19)}…` : row.name });
      add(svg, 'svg:rect', { class: 'mark', x: left, y: y + 4, width: Math.max(1, row.value / max * (right - left)), height: 16, rx: 3, style: `fill: ${row.color}; opacity: 0.8` });
      add(svg, 'svg:text', { x: left + row.value / max * (right - left) + 8, y: y + 16, text: row.text });
    });
    holder.replaceChildren(svg);
  });
}
