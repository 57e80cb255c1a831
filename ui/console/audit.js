/* The audit log: who changed what, newest first. */

const PERIODS = [['24h', '24 hours', 86400], ['7d', '7 days', 7 * 86400], ['30d', '30 days', 30 * 86400], ['all', 'All', null]];
const AUDIT_ACTIONS = ['create', 'update', 'delete', 'sign-in', 'sign-out', 'reset-password'];
const AUDIT_STEP = 100;
const AUDIT_MAX = 1000;

/* The text of a filter, of which commas would begin another one: each part has to be in the member. */
function filtersOf(member, operator, text) {
  return text.split(',').map((part) => part.trim()).filter(Boolean).map((part) => `${member}${operator}${part}`);
}

function auditQuery(query) {
  const [, , seconds] = PERIODS.find(([id]) => id === query.get('period')) || PERIODS[0];
  const parts = new URLSearchParams({
    start: seconds ? new Date(Date.now() - seconds * 1000).toISOString() : '2000-01-01T00:00:00Z', end: '2200-01-01T00:00:00Z',
    numberOfSamples: String(Math.min(AUDIT_MAX, Number(query.get('n')) || AUDIT_STEP)),
  });
  const filters = [...filtersOf('subject', '=@', query.get('who') || ''), ...filtersOf('entity_name', '=@', query.get('q') || ''),
    ...(query.get('action') ? filtersOf('action', '==', query.get('action')) : []), ...(query.get('result') ? filtersOf('result', '==', query.get('result')) : [])];
  for (const filter of filters) parts.append('filterBy', filter);
  return parts;
}

/* All boxes of the filter as parameters of the address: a change of one must not lose what was typed into another. */
function filterValues() {
  return Object.fromEntries([...byId('main').querySelectorAll('[data-filter]')].map((input) => [input.dataset.filter, input.value.trim()]));
}

/* What was typed and is not in the address yet: the page may be drawn anew in between. */
let typedFilter = {};

/* A text box or a choice of the filter. */
function auditInput(name, label, options) {
  const input = add(null, options ? 'select' : 'input', { type: options ? null : 'search', 'aria-label': label, placeholder: label, 'data-filter': name, 'data-focus': `audit-${name}`, id: name === 'q' ? 'filter' : null, autocomplete: 'off' });
  for (const [value, text] of options || []) add(input, 'option', { value, text });
  input.value = typedFilter[name] ?? view.query.get(name) ?? '';
  input.addEventListener(options ? 'change' : 'input', () => {
    typedFilter = filterValues();
    clearTimeout(filterTimer);
    filterTimer = setTimeout(() => {
      const values = typedFilter;
      typedFilter = {};
      go(here({ ...values, n: '' }), true);
    }, options ? 0 : 250);
  });
  return input;
}

function resultMark(entry) {
  return add(null, 'span', { class: 'phase' }, icon(entry.result === 'Succeeded' ? 'tick' : 'cross', entry.result === 'Succeeded' ? 'dim' : 'bad'), add(null, 'span', { text: entry.result === 'Succeeded' ? 'done' : `refused, ${entry.http_status_code}` }));
}

function drawAudit(main, { total, entries }, query) {
  const period = PERIODS.find(([id]) => id === query.get('period')) || PERIODS[0];
  const isFiltered = ['who', 'q', 'action', 'result'].some((name) => query.get(name));
  main.append(pageHead('Audit', `${countText(total, 'entry', 'entries')} ${period[2] ? `of the last ${period[1]}` : 'in all'}${isFiltered ? (total === 1 ? ' matches the filter' : ' match the filter') : ''}. Each is chained to the one before it by a hash.`,
    segments('Period', PERIODS.map(([id, text]) => ({ text, where: here({ period: id === '24h' ? '' : id, n: '' }), isOn: id === period[0] })))));
  const panel = add(main, 'section', { class: 'panel', 'aria-labelledby': 'audit-title' }, add(null, 'header', {}, add(null, 'h2', { id: 'audit-title', text: 'Changes and sign-ins' }), add(null, 'span', { class: 'grow' }),
    auditInput('who', 'Who'), auditInput('q', 'Object'), auditInput('action', 'Action', [['', 'All actions'], ...AUDIT_ACTIONS.map((one) => [one, one])]),
    auditInput('result', 'Result', [['', 'All results'], ['Succeeded', 'done'], ['Failed', 'refused']])));
  if (!entries.length) {
    panel.append(isFiltered ? add(null, 'p', { class: 'empty' }, 'Nothing matches. ', add(null, 'button', { type: 'button', class: 'more', onclick: () => go(here({ who: '', q: '', action: '', result: '' })), text: 'Clear the filter' }))
      : emptyState('Nothing happened in this time', 'Every change and every sign-in is written down here.'));
    return;
  }
  panel.append(table({
    label: 'Audit log', rows: entries,
    columns: [
      { head: 'Time', isName: true, className: 'moment', cell: (entry) => rowLink(timeText(entry.timestamp), here({ open: entry.id })) },
      { head: 'Who', cell: (entry) => entry.subject },
      { head: 'What', className: 'fill', cell: (entry) => add(null, 'span', {}, add(null, 'b', { text: plain(entry.action) }), ` ${plain(entry.entity_type)} `, add(null, 'bdi', { class: 'object', text: plain(entry.entity_name) })) },
      { head: 'Result', isWide: true, cell: resultMark },
      { head: 'Address', isWide: true, cell: (entry) => entry.source_ip || '–' },
    ],
  }));
  if (entries.length < total) {
    const isLast = entries.length >= AUDIT_MAX;
    panel.append(add(null, 'p', { class: 'foot' }, isLast ? `The newest ${formatNumber(AUDIT_MAX)} are shown: narrow the filter for older ones.`
      : add(null, 'button', { type: 'button', class: 'more', 'data-focus': 'more', onclick: () => go(here({ n: String(entries.length + AUDIT_STEP) }), true), text: `${formatNumber(Math.min(AUDIT_STEP, total - entries.length))} more` })));
  }
}

function drawEntry({ entries }, query) {
  const entry = entries.find((one) => one.id === query.get('open'));
  if (!entry) return false;
  return openDrawer(`entry ${entry.id}`, here({ open: entry.id }), () => showDrawer(`${entry.action}: ${plain(entry.entity_type)}`, facts([
    ['Time', `${timeText(entry.timestamp)}, ${entry.timestamp}`], ['Who', `${entry.subject} (${entry.subject_type === 'User' ? 'user' : 'service account'})`], ['Object', entry.entity_name], ['Identifier', entry.entity_id],
    ['Result', resultMark(entry)], ['Request', add(null, 'code', { text: plain(`${entry.http_method} ${entry.url}`) })], ['Address', entry.source_ip],
  ])));
}

pages.push({
  path: '/audit', title: 'Audit', icon: 'scroll', needs: ['events-history:read'], isWhole: true,
  key: (query) => ['period', 'who', 'q', 'action', 'result', 'n'].map((name) => query.get(name)).join('\n'),
  load: async (query) => {
    const answer = await get(`${REST}/audit/log?${auditQuery(query)}`);
    return { total: answer.total, entries: answer.audit_logs };
  },
  draw: drawAudit,
  drawer: drawEntry,
});
