/* Tables of rows that open a drawer, their filter, and what stands in for no rows. */

/* Columns as { head, cell(row), isNumber, isWide, isName }; a cell is a text or an element. A wide column is left out where there is no room. */
function table({ columns, rows, label, foot, className = 'list' }) {
  const classOf = (column) => [column.isNumber ? 'num' : '', column.isWide ? 'wide' : '', column.className || ''].join(' ').trim() || null;
  const cellOf = (column, row) => {
    const content = column.cell(row);
    return add(null, column.isName ? 'th' : 'td', { class: classOf(column), scope: column.isName ? 'row' : null }, content instanceof Node ? content : add(null, 'bdi', { text: plain(content) }));
  };
  const element = add(null, 'table', { class: className, 'aria-label': label },
    add(null, 'thead', {}, add(null, 'tr', {}, ...columns.map((column) => add(null, 'th', { scope: 'col', class: classOf(column), text: column.head })))),
    add(null, 'tbody', {}, ...rows.map((row) => add(null, 'tr', { class: row.className || null }, ...columns.map((column) => cellOf(column, row))))));
  if (foot) element.append(add(null, 'tfoot', {}, foot));
  return add(null, 'div', { class: 'scroll' }, element);
}

/* The name of a row, which opens it. */
function rowLink(name, where, ...more) {
  return add(null, 'span', { class: 'name' }, add(null, 'a', { href: where, 'data-focus': where, 'data-row': '', 'aria-expanded': location.pathname + location.search === where ? 'true' : null },
    add(null, 'bdi', { text: plain(name) })), ...more);
}

const PHASES = { Ready: ['disc', 'good'], Creating: ['half', 'accent'], Updating: ['half', 'accent'], Deleting: ['half', 'dim'], Empty: ['square', 'dim'], Failed: ['cross', 'bad'], Error: ['cross', 'bad'] };

function isMovingPhase(phase) {
  return ['Creating', 'Updating', 'Deleting'].includes(phase);
}

function phaseMark(phase, message) {
  const [shape, tone] = PHASES[phase] || ['octagon', 'bad'];
  return add(null, 'span', { class: 'phase', title: message ? plain(message) : null }, icon(shape, tone), add(null, 'span', { text: plain(phase) }));
}

/* Words of the filter, of which each has to be in one of the texts of a row. */
function matches(words, ...texts) {
  const whole = texts.join('\n').toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => whole.includes(word));
}

let filterTimer = 0;

function filterBox(label) {
  const box = add(null, 'input', { type: 'search', id: 'filter', 'data-focus': 'filter', placeholder: 'Filter', 'aria-label': label, autocomplete: 'off' });
  box.value = view.query.get('q') || '';
  box.addEventListener('input', () => {
    clearTimeout(filterTimer);
    filterTimer = setTimeout(() => go(here({ q: box.value.trim() }), true), 120);
  });
  return box;
}

/* Buttons of which one is pressed; each leads to an address. */
function segments(label, choices) {
  return add(null, 'div', { class: 'segments', role: 'group', 'aria-label': label }, ...choices.map(({ text, where, isOn }) => add(null, 'button', {
    type: 'button', 'aria-pressed': String(Boolean(isOn)), 'data-focus': `${label}:${text}`, onclick: () => go(where), text })));
}

function mainButton(text, where, key = 'c') {
  return add(null, 'a', { class: 'button main', href: where, 'data-focus': where, 'data-new': '' }, icon('plus'), text, add(null, 'kbd', { 'aria-hidden': 'true', text: key }));
}

/* What belongs here, and a way to it. */
function emptyState(title, text, ...more) {
  return add(null, 'div', { class: 'state' }, add(null, 'h2', { text: title }), add(null, 'p', { class: 'dim', text }), ...more);
}

function noMatch() {
  return add(null, 'p', { class: 'empty' }, 'Nothing matches. ', add(null, 'button', { type: 'button', class: 'more', 'data-focus': 'clear', onclick: () => go(here({ q: '' })), text: 'Clear the filter' }));
}

/* Pairs of a name and a value. */
function facts(pairs) {
  return add(null, 'dl', { class: 'facts' }, ...pairs.filter(([, value]) => value !== '' && value !== undefined && value !== null)
    .flatMap(([name, value]) => [add(null, 'dt', { text: name }), add(null, 'dd', {}, value instanceof Node ? value : add(null, 'bdi', { text: plain(value) }))]));
}
