/* Tables of workloads that can be searched, and the words for states and reasons. */

const ROWS_AT_FIRST = 15;

/* Every word of the query has to be somewhere in the row. */
function matches(text, query) {
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/*
 * rows: [{search, cells}], where `search` is all text that a query may find and `cells` are those of table(). `noun` is what
 * a row is, in the plural. The table shows the first rows and adds more on demand.
 */
function searchTable(parent, { caption, head, rows, noun, textColumns, className, total }) {
  const holder = add(parent, 'div', { class: 'searchable' });
  const tools = add(holder, 'div', { class: 'tools' });
  const field = add(tools, 'input', { type: 'search', placeholder: `Search ${noun}`, 'aria-label': `Search ${noun}` });
  const count = add(tools, 'span', { class: 'dim', role: 'status' });
  const body = add(holder, 'div');
  const found = rows.map((row) => ({ ...row, search: row.search.toLowerCase() }));
  let limit = ROWS_AT_FIRST;
  const draw = () => {
    const query = field.value.trim();
    const hits = query ? found.filter((row) => matches(row.search, query)) : found;
    const shown = hits.slice(0, limit);
    const all = total && total > rows.length ? `${formatNumber(total)}, of which the report holds ${formatNumber(rows.length)}` : formatNumber(rows.length);
    count.textContent = `${formatNumber(shown.length)} of ${query ? `${formatNumber(hits.length)} found, ` : ''}${all} ${noun}`;
    body.replaceChildren();
    const element = table(body, caption, head, shown.map((row) => row.cells), textColumns);
    for (const name of element.querySelectorAll('tbody th')) name.title = name.textContent;
    if (className) element.className = className;
    if (hits.length > shown.length)
      add(body, 'button', { type: 'button', class: 'more', text: `Show ${formatNumber(Math.min(hits.length - shown.length, limit))} more`, onclick: () => { limit *= 2; draw(); } });
  };
  field.addEventListener('input', () => { limit = ROWS_AT_FIRST; draw(); });
  draw();
  return holder;
}

/* A queue's name with its colour before it. */
function queueCell(name) {
  return { nodes: [add(null, 'i', { class: 'key', style: `--c: ${colorOf(name)}` }), name || '–'], class: 'keyed' };
}

function reasonWords(code) {
  const reason = data.reasons[code];
  return reason ? reason.words : '';
}

function badge(text, kind) {
  return add(null, 'span', { class: `badge ${kind}`, text });
}

const OUTLOOK_KINDS = { never: 'bad', 'not now': 'warn', 'by choice': 'warn', soon: 'good' };

function outlookBadge(outlook) {
  return badge(outlook, OUTLOOK_KINDS[outlook] || 'plain');
}

const STATE_KINDS = { Running: 'good', Completed: 'plain', Pending: 'warn', Preempting: 'warn', Cancelled: 'plain' };

function stateBadge(state) {
  return badge(state, STATE_KINDS[state] || 'plain');
}
