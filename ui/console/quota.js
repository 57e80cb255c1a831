/* Departments and projects with what they own in a node pool. One scale for all bars, so that lengths compare. */

/* Resources as the REST counts them, and as people do: CPUs in thousandths, memory in a unit of its own. */
const RESOURCES = {
  gpu: { name: 'GPU', unit: 'GPUs', toPeople: (value) => value, toRest: (value) => value },
  cpu: { name: 'CPU', unit: 'CPU cores', toPeople: (value) => value / 1000, toRest: (value) => Math.round(value * 1000) },
  memory: {
    name: 'Memory', unit: 'GB of memory', toPeople: (value, row) => (value * ({ Mib: 1.048576, MB: 1, GB: 1000 }[row.units] || 1)) / 1000, toRest: (value) => value,
  },
};

/* A number of people's units; Infinity is unlimited. */
function quotaOf(unit, pool, resource, member) {
  const row = unit.resources.find((one) => one.nodePool.name === pool);
  const value = row && row[resource] ? row[resource][member] : null;
  return typeof value !== 'number' || value < 0 ? Infinity : RESOURCES[resource].toPeople(value, row[resource]);
}

function weightOf(unit, pool, resource) {
  const row = unit.resources.find((one) => one.nodePool.name === pool);
  return row && row[resource] ? row[resource].overQuotaWeight : 1;
}

function quotaCell(value) {
  return add(null, 'span', { class: Number.isFinite(value) && value !== 0 ? null : 'zero', text: value === Infinity ? 'unlimited' : value === 0 ? '–' : amountText(value) });
}

/* Hues go round by the age of the department, so that a new one changes no other; projects are three shades of it. */
function coloursOf(departments, projects) {
  const colours = new Map();
  [...departments].sort((a, b) => Number(a.id) - Number(b.id)).forEach((department, i) => {
    colours.set(department.id, `--q${i % 6}`);
    projects.filter((project) => project.parentId === department.id).sort((a, b) => Number(a.id) - Number(b.id))
      .forEach((project, k) => colours.set(project.id, `--q${i % 6}${['', 'l', 'd'][k % 3]}`));
  });
  return colours;
}

function colourChip(colour, isDepartment) {
  const chip = add(null, 'span', { class: 'chip', 'aria-hidden': 'true' });
  chip.style.background = isDepartment ? `linear-gradient(90deg, var(${colour}d) 34%, var(${colour}) 34% 67%, var(${colour}l) 67%)` : `var(${colour})`;
  return chip;
}

/* A department: solid is what its projects own, hollow what is left of its quota, hatched what they own beyond it. */
function quotaBar({ quota, given, limit, colour }, scale, text) {
  const x = (value) => `${(Math.min(value, scale) / scale) * 98}%`;
  const bar = add(null, 'svg:svg', { class: 'bar-svg', height: 28, role: 'img', 'aria-label': text, style: `--c: var(${colour})` });
  const box = (from, to, kind) => {
    if (to - from > 1e-9) add(bar, 'svg:rect', { x: x(from), y: 8.5, width: x(to - from), height: 11, class: kind });
  };
  const end = quota === Infinity ? given : quota;
  box(Math.min(given, end), end, 'lent');
  box(0, Math.min(given, end), 'held');
  box(end, given, 'borrowed');
  if (quota !== Infinity && quota > 0) add(bar, 'svg:line', { x1: x(quota), x2: x(quota), y1: 4.5, y2: 23.5, class: 'quota' });
  if (limit !== Infinity) add(bar, 'svg:svg', { x: x(limit), y: 5, overflow: 'visible' }, add(null, 'svg:path', { d: 'M-1 0h4v18h-4', class: 'limit' }));
  return bar;
}

/* Departments, each followed by its projects; the filter keeps the department of a project that it finds. */
function quotaRows({ departments, projects }, pool, resource, words) {
  const colours = coloursOf(departments, projects);
  const rows = [];
  const byName = (a, b) => a.name.localeCompare(b.name);
  const known = new Set(departments.map((department) => department.id));
  const rowOf = (unit, isDepartment, children) => {
    const owned = children.map((child) => quotaOf(child, pool, resource, 'deserved'));
    const quota = quotaOf(unit, pool, resource, 'deserved');
    return {
      unit, isDepartment, quota, limit: quotaOf(unit, pool, resource, 'limit'), weight: weightOf(unit, pool, resource), colour: colours.get(unit.id) || '--other',
      given: isDepartment ? owned.filter(Number.isFinite).reduce((sum, value) => sum + value, 0) : Number.isFinite(quota) ? quota : 0,
      className: isDepartment ? 'branch' : 'leaf',
    };
  };
  for (const department of [...departments].sort(byName)) {
    const children = projects.filter((project) => project.parentId === department.id).sort(byName);
    const found = children.filter((project) => matches(words, project.name, project.description, department.name));
    if (!found.length && !matches(words, department.name, department.description)) continue;
    rows.push(rowOf(department, true, children), ...found.map((project) => rowOf(project, false, [])));
  }
  /* Projects of a department that one may not see. */
  rows.push(...projects.filter((project) => !known.has(project.parentId) && matches(words, project.name)).sort(byName).map((project) => rowOf(project, false, [])));
  return rows;
}

function quotaNote(row) {
  const { phase, phaseMessage } = row.unit.status;
  if (row.isDepartment && row.quota !== Infinity && row.given > row.quota + 1e-9) {
    return add(null, 'span', { class: 'phase warn', text: `projects own ${amountText(row.given - row.quota)} more` });
  }
  return phaseMark(phase, phaseMessage);
}

function quotaLead(rows, pool, resource) {
  const { unit } = RESOURCES[resource];
  const departments = rows.filter((row) => row.isDepartment);
  const sum = departments.filter((row) => Number.isFinite(row.quota)).reduce((total, row) => total + row.quota, 0);
  const projects = rows.filter((row) => !row.isDepartment);
  return `${countText(departments.length, 'department')} with ${countText(projects.length, 'project')} ${departments.length === 1 ? 'owns' : 'own'} ${amountText(sum)} ${unit} in the node pool ${pool}.`;
}

function drawQuota(main, data, query) {
  const resource = RESOURCES[query.get('show')] ? query.get('show') : 'gpu';
  const pool = data.pools.includes(query.get('pool')) ? query.get('pool') : data.pools[0];
  const words = query.get('q') || '';
  const all = quotaRows(data, pool, resource, '');
  const rows = words ? quotaRows(data, pool, resource, words) : all;
  const { unit } = RESOURCES[resource];
  const scale = Math.max(1e-9, ...all.flatMap((row) => [row.quota, row.given, row.limit]).filter(Number.isFinite));
  const barText = (row) => `${row.unit.name}: quota ${row.quota === Infinity ? 'unlimited' : amountText(row.quota)}, limit ${row.limit === Infinity ? 'unlimited' : amountText(row.limit)}`;
  const actions = [];
  if (may('department:create')) actions.push(add(null, 'a', { class: 'button soft', href: here({ new: 'department', open: '', in: '' }), 'data-focus': 'new-department', text: 'New department' }));
  if (maySomewhere('project:create') && data.departments.length) actions.push(mainButton('New project', here({ new: 'project', open: '', in: '' })));
  main.append(pageHead('Quota', quotaLead(all, pool, resource), ...actions));

  const panel = add(main, 'section', { class: 'panel', 'aria-labelledby': 'quota-title' });
  const choices = Object.entries(RESOURCES).map(([id, one]) => ({ text: one.name, where: here({ show: id === 'gpu' ? '' : id }), isOn: id === resource }));
  add(panel, 'header', {}, add(null, 'h2', { id: 'quota-title', text: 'Departments and projects' }), add(null, 'span', { class: 'dim', text: unit }), add(null, 'span', { class: 'grow' }),
    data.pools.length > 1 ? segments('Node pool', data.pools.map((one) => ({ text: one, where: here({ pool: one === data.pools[0] ? '' : one }), isOn: one === pool }))) : '',
    segments('Resource', choices), filterBox('Filter by name'));
  if (!rows.length) {
    panel.append(words ? noMatch() : emptyState('No departments yet', 'A department owns GPUs and shares them between its projects. People submit work to projects.'));
    return;
  }
  const total = all.filter((row) => row.isDepartment).reduce((sum, row) => sum + (Number.isFinite(row.quota) ? row.quota : 0), 0);
  panel.append(table({
    className: 'ledger', label: 'Departments and projects', rows,
    columns: [
      { head: 'Name', isName: true, cell: (row) => add(null, 'span', { class: 'unit' }, colourChip(row.colour, row.isDepartment), rowLink(row.unit.name, here({ open: row.unit.id, new: '', in: '' }))) },
      { head: '', className: 'bars', cell: (row) => quotaBar(row, scale, barText(row)) },
      { head: 'Quota', isNumber: true, cell: (row) => quotaCell(row.quota) },
      { head: 'Limit', isNumber: true, cell: (row) => quotaCell(row.limit) },
      { head: 'Weight', isNumber: true, isWide: true, cell: (row) => add(null, 'span', { text: amountText(row.weight) }) },
      { head: 'Status', isWide: true, className: 'note', cell: quotaNote },
    ],
    foot: add(null, 'tr', {}, add(null, 'th', { scope: 'row', text: 'All departments' }), add(null, 'td', { class: 'bars' }), add(null, 'td', { class: 'num', text: amountText(total) }),
      add(null, 'td', { class: 'num' }), add(null, 'td', { class: 'num wide' }), add(null, 'td', { class: 'wide' })),
  }));
  const key = add(panel, 'div', { class: 'key', 'aria-hidden': 'true' });
  for (const [kind, text] of [['held', 'owned by projects'], ['lent', 'left to the department'], ['borrowed', 'more than the department owns'], ['quota', 'quota'], ['limit', 'limit']]) {
    add(key, 'span', {}, add(null, 'i', { class: `ledger-key ${kind}` }), text);
  }
}

pages.push({
  path: '/quota', title: 'Quota', icon: 'scales', needs: ['department:read', 'project:read'],
  load: async () => {
    const [departments, projects, pools] = await Promise.all([
      maySomewhere('department:read') ? getAll(`${REST}/org-unit/departments`, 'departments') : [],
      maySomewhere('project:read') ? getAll(`${REST}/org-unit/projects`, 'projects') : [],
      may('nodepools:read') ? get(`${REST}/node-pools?limit=500`).then((answer) => answer.nodepools.filter((pool) => pool.phase !== 'Deleting').map((pool) => pool.name)) : null,
    ]);
    const named = [...departments, ...projects].flatMap((unit) => unit.resources.map((row) => row.nodePool.name));
    const names = [...new Set(pools || named)];
    return { departments, projects, pools: ['default', ...names.filter((name) => name !== 'default').sort()] };
  },
  isMoving: ({ departments, projects }) => [...departments, ...projects].some((unit) => isMovingPhase(unit.status.phase)),
  draw: drawQuota,
  drawer: (data, query) => drawUnit(data, query),
});
