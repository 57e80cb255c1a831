/* What the sections of the report are made of. */

const tooltip = {
  element: document.getElementById('tooltip'),
  show(x, y, title, rows) {
    const box = this.element;
    box.replaceChildren();
    if (title) add(box, 'b', { text: title });
    for (const row of rows) {
      const line = add(box, 'div', { class: 'row' });
      const name = add(line, 'span');
      if (row.color) add(name, 'i', { class: 'key', style: `--c: ${row.color}` });
      name.append(row.name);
      add(line, 'span', { text: row.value });
    }
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = x + 16 + width > window.innerWidth ? x - 16 - width : x + 16;
    box.style.left = `${Math.max(4, left)}px`;
    box.style.top = `${Math.max(4, Math.min(y + 12, window.innerHeight - height - 4))}px`;
  },
  hide() {
    this.element.hidden = true;
  },
};

function section(parent, id, title, intro) {
  const element = add(parent, 'section', { id, 'aria-labelledby': `${id}-title` });
  add(element, 'h2', { id: `${id}-title`, text: title });
  if (intro) add(element, 'p', { class: 'intro', text: intro });
  return element;
}

/* One column a setting, with its letter above when there are several. */
function columns(parent, data) {
  const grid = add(parent, 'div', { class: 'columns', style: `--settings: ${data.simulations.length}` });
  return data.simulations.map((sim, i) => {
    const panel = add(grid, 'div', { class: 'panel' });
    if (data.simulations.length > 1) settingTitle(panel, sim, i);
    return panel;
  });
}

function settingTitle(parent, sim, i) {
  add(parent, 'p', { class: 'setting' }, add(null, 'b', { text: 'AB'[i] }), sim.title);
}

/* rows: arrays of cells; a cell is a text, or {text, class, style}, or {nodes, class} for elements. */
function table(parent, caption, head, rows, textColumns = []) {
  const scroll = add(parent, 'div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption });
  const element = add(scroll, 'table', {}, add(null, 'caption', { text: caption }));
  const isText = (i) => textColumns.includes(i);
  const line = add(add(element, 'thead'), 'tr');
  head.forEach((text, i) => add(line, 'th', { text, scope: 'col', class: isText(i) && 'text' }));
  const body = add(element, 'tbody');
  for (const row of rows) {
    const tr = add(body, 'tr');
    row.forEach((cell, i) => {
      const value = typeof cell === 'object' && cell ? cell : { text: cell };
      const kind = [value.class, isText(i) && 'text'].filter(Boolean).join(' ');
      add(tr, i === 0 ? 'th' : 'td', { text: value.nodes ? null : value.text, scope: i === 0 ? 'row' : null, class: kind || null, style: value.style, 'data-label': i === 0 ? null : head[i] }, ...(value.nodes || []));
    });
  }
  return element;
}

function details(parent, title) {
  const element = add(parent, 'details');
  add(element, 'summary', { text: title });
  return element;
}
