/* Roles: those that come with the console, and custom ones. */

const ROLE_ACTIONS = ['create', 'read', 'update', 'delete'];
const GROUP_TITLES = { organization: 'Organisation', 'physical-resource': 'Hardware', iam: 'People and rights', dashboard: 'Dashboards', workload: 'Workloads', 'workload-asset': 'Assets' };

function permissionCount(role) {
  return role.permissions.reduce((sum, one) => sum + one.actions.filter((action) => ROLE_ACTIONS.includes(action)).length, 0);
}

function drawRoles(main, { roles, rules }, query) {
  const words = query.get('q') || '';
  const rows = roles.filter((role) => matches(words, role.name, role.description));
  accessHead(main, `${countText(roles.length, 'role')}, ${roles.filter((role) => role.custom).length} of them custom. Access rules give them.`,
    ...(may('roles:create') ? [mainButton('New role', here({ new: 'role', open: '' }))] : []));
  const panel = accessPanel(main, 'Roles', 'Filter by name');
  if (!rows.length) {
    panel.append(noMatch());
    return;
  }
  panel.append(table({
    label: 'Roles', rows,
    columns: [
      { head: 'Role', isName: true, cell: (role) => rowLink(role.name, here({ open: String(role.id), new: '' }), role.custom ? add(null, 'small', { text: 'custom' }) : '') },
      { head: 'What it is for', className: 'fill', isWide: true, cell: (role) => role.description },
      { head: 'Permissions', isNumber: true, cell: (role) => String(permissionCount(role)) },
      { head: 'Given by rules', isNumber: true, cell: (role) => (rules ? String(rules.filter((rule) => rule.roleId === role.id).length) : '–') },
    ],
  }));
}

/* What there is to allow as a table of ticks or marks, by group. */
function permissionTable(kinds, cell) {
  const groups = [...new Set(kinds.map((kind) => kind.groupId))];
  const element = add(null, 'table', { class: 'permissions' }, add(null, 'thead', {}, add(null, 'tr', {}, add(null, 'th', { scope: 'col', text: 'What' }), ...ROLE_ACTIONS.map((action) => add(null, 'th', { scope: 'col', text: action })))));
  for (const group of groups) {
    add(element, 'tbody', {}, add(null, 'tr', { class: 'group' }, add(null, 'th', { scope: 'rowgroup', colspan: '5', text: GROUP_TITLES[group] || plain(group) })),
      ...kinds.filter((kind) => kind.groupId === group).map((kind) => add(null, 'tr', {}, add(null, 'th', { scope: 'row', text: kind.resourceType }), ...ROLE_ACTIONS.map((action) => add(null, 'td', {}, cell(kind.resourceType, action))))));
  }
  return add(null, 'div', { class: 'scroll' }, element);
}

function readPermissions(values) {
  const found = new Map();
  for (const [path, isTicked] of Object.entries(values)) {
    const [, type, action] = /^permissions\.([^:]+):(.+)$/.exec(path) || [];
    if (!type || !isTicked) continue;
    if (!found.has(type)) found.set(type, []);
    found.get(type).push(action);
  }
  return [...found].map(([resourceType, actions]) => ({ resourceType, actions }));
}

/* Nobody gives more than it has: what is missing cannot be ticked. */
function roleForm(role, kinds) {
  const has = (type, action) => Boolean(role && role.permissions.some((one) => one.resourceType === type && one.actions.includes(action)));
  const tick = (type, action) => {
    const input = add(null, 'input', { type: 'checkbox', 'data-path': `permissions.${type}:${action}`, 'aria-label': `${type}: ${action}`, disabled: !may(`${type}:${action}`) });
    input.checked = has(type, action);
    return input;
  };
  const remove = role && may('roles:delete') ? [add(null, 'span', { class: 'grow' }), add(null, 'button', { type: 'button', class: 'button quiet bad', text: 'Delete', onclick: () => askFirst({
    title: `Delete the role ${plain(role.name)}?`, text: 'This cannot be undone. A role that an access rule gives cannot be deleted.', save: 'Delete the role',
    act: async () => { await call('DELETE', `${OURS}/roles/${role.id}`); say(`${role.name} was deleted.`); leaveDrawer(); await refresh(); },
  }) })] : [];
  return form({
    fields: [
      role ? '' : field({ path: 'name', label: 'Name', isRequired: true }),
      field({ path: 'description', label: 'What it is for', value: role ? role.description : '' }),
      add(null, 'h3', { text: 'Permissions' }), permissionTable(kinds, tick),
    ].filter(Boolean),
    more: remove, save: role ? 'Save' : 'Create the role',
    send: (values) => {
      const body = { name: role ? role.name : values.name.trim(), description: values.description, permissions: readPermissions(values) };
      return role ? call('PUT', `${OURS}/roles/${role.id}`, body) : call('POST', `${OURS}/roles`, body);
    },
    done: async () => {
      say(role ? `${role.name} was saved. It holds for everyone who has it.` : 'The role was created.');
      leaveDrawer();
      await refresh();
    },
  });
}

function drawRole({ roles, kinds }, query) {
  if (query.get('new') === 'role' && may('roles:create')) return openDrawer('new role', here({ new: 'role', open: '' }), () => showDrawer('New role', roleForm(null, kinds)));
  const role = roles.find((one) => String(one.id) === query.get('open'));
  if (!role) return false;
  return openDrawer(`role ${role.id} ${role.updatedAt}`, here({ open: String(role.id), new: '' }), () => {
    if (role.custom && may('roles:update')) {
      showDrawer(plain(role.name), roleForm(role, kinds));
      return;
    }
    const mark = (type, action) => (role.permissions.some((one) => one.resourceType === type && one.actions.includes(action)) ? add(null, 'span', { role: 'img', 'aria-label': 'yes' }, icon('tick', 'good')) : '');
    showDrawer(plain(role.name), add(null, 'p', { class: 'dim', text: plain(role.description) }), permissionTable(role.permissions, mark));
  });
}

pages.push({
  path: '/access/roles', title: 'Roles', heading: 'Access', group: 'access', needs: ['roles:read'],
  load: async () => {
    const [roles, kinds, rules] = await Promise.all([get(`${REST}/authorization/roles`), get(`${REST}/authorization/permissions`), loadRules()]);
    return { roles, kinds, rules: rules && rules.map(({ roleId }) => ({ roleId })) };
  },
  draw: drawRoles,
  drawer: drawRole,
});
