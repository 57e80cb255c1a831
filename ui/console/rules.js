/* Access rules: a subject has a role in a scope. Rules are created and deleted, and never changed. */

function subjectName(rule, names) {
  return names.get(rule.subjectId) || rule.subjectId;
}

function namesOf({ users, accounts }) {
  return new Map([...(users || []).map((user) => [user.id, user.username]), ...(accounts || []).map((account) => [account.id, account.name])]);
}

function drawRules(main, data, query) {
  const words = query.get('q') || '';
  const names = namesOf(data);
  const rows = data.rules.filter((rule) => matches(words, subjectName(rule, names), rule.roleName, rule.scopeName, SUBJECT_KINDS[rule.subjectType] || ''));
  accessHead(main, `${countText(data.rules.length, 'access rule')}: each gives a user, a group or a service account a role in a scope and in everything below it.`,
    ...(maySomewhere('access_rules:create') ? [mainButton('New access rule', here({ new: 'rule', open: '' }))] : []));
  const panel = accessPanel(main, 'Access rules', 'Filter by subject, role or scope');
  if (!data.rules.length) panel.append(emptyState('No access rules', 'Without a rule, whoever signs in sees nothing.'));
  else if (!rows.length) panel.append(noMatch());
  else {
    panel.append(table({
      label: 'Access rules', rows: rows.sort((a, b) => subjectName(a, names).localeCompare(subjectName(b, names)) || a.id - b.id),
      columns: [
        { head: 'Subject', isName: true, cell: (rule) => rowLink(subjectName(rule, names), here({ open: String(rule.id), new: '' }), rule.subjectType === 'user' ? '' : add(null, 'small', { text: (SUBJECT_KINDS[rule.subjectType] || plain(rule.subjectType)).toLowerCase() })) },
        { head: 'Role', cell: (rule) => rule.roleName },
        { head: 'Scope', className: 'fill', cell: (rule) => (rule.scopeType === 'tenant' ? 'everything' : `${rule.scopeType} ${rule.scopeName}`) },
        { head: 'Given by', isWide: true, cell: (rule) => rule.createdBy },
        { head: 'Since', isWide: true, isNumber: true, cell: (rule) => timeText(rule.createdAt) },
      ],
    }));
  }
}

/* The choice of a subject follows its kind, and the choice of a place the kind of scope. */
function newRuleForm({ users, accounts, roles, departments, projects }, query) {
  const kinds = [['user', 'User', users], ['service-account', 'Service account', accounts], ['group', 'Group of an identity provider', []]].filter(([, , rows]) => rows);
  const kind = field({ path: 'subjectType', label: 'Who', options: kinds.map(([value, text]) => [value, text]), value: kinds.some(([value]) => value === query.get('kind')) ? query.get('kind') : kinds[0][0] });
  const scopes = [['tenant', 'Everything'], ['department', 'A department'], ['project', 'A project']].filter(([type]) => (type === 'tenant' ? may('access_rules:create') : { department: departments, project: projects }[type].length));
  const scope = field({ path: 'scopeType', label: 'Where', options: scopes });
  const subject = add(null, 'div');
  const place = add(null, 'div');
  const kindInput = kind.querySelector('select');
  const scopeInput = scope.querySelector('select');
  const drawSubject = () => {
    const rows = { user: (users || []).map((one) => [one.id, one.username]), 'service-account': (accounts || []).map((one) => [one.id, one.name]) }[kindInput.value];
    subject.replaceChildren(rows ? field({ path: 'subjectId', label: kindInput.value === 'user' ? 'User' : 'Service account', options: rows, value: query.get('subject') && rows.some(([id]) => id === query.get('subject')) ? query.get('subject') : (rows[0] || [''])[0], isRequired: true })
      : field({ path: 'subjectId', label: 'Name of the group', isRequired: true, hint: 'As the identity provider calls it. Nobody has to be in it yet.' }));
  };
  const drawPlace = () => {
    const rows = { department: departments, project: projects }[scopeInput.value];
    place.replaceChildren(rows ? field({ path: 'scopeId', label: scopeInput.value === 'department' ? 'Department' : 'Project', options: rows.map((one) => [one.id, one.name]) }) : '');
  };
  const role = field({ path: 'roleId', label: 'Role', options: roles.map((one) => [one.id, one.name]), hint: roles[0] && roles[0].description });
  role.querySelector('select').addEventListener('change', (event) => { role.querySelector('.hint').textContent = plain((roles.find((one) => String(one.id) === event.target.value) || {}).description); });
  kindInput.addEventListener('change', drawSubject);
  scopeInput.addEventListener('change', drawPlace);
  drawSubject();
  drawPlace();
  return form({
    fields: [kind, subject, role, scope, place],
    save: 'Give the role',
    send: (values) => call('POST', `${REST}/authorization/access-rules`, {
      subjectType: values.subjectType, subjectId: values.subjectId.trim(), roleId: Number(values.roleId), scopeType: values.scopeType, scopeId: values.scopeType === 'tenant' ? '1' : values.scopeId,
    }),
    done: async () => {
      say('The access rule was created.');
      go(here({ new: '', kind: '', subject: '' }));
      await refresh();
    },
  });
}

function drawRule(data, query) {
  if (query.get('new') === 'rule' && maySomewhere('access_rules:create')) return openDrawer(`new rule ${query.get('subject')}`, here({ new: 'rule', open: '' }), () => showDrawer('New access rule', newRuleForm(data, query)));
  const rule = data.rules.find((one) => String(one.id) === query.get('open'));
  if (!rule) return false;
  const name = subjectName(rule, namesOf(data));
  const role = data.roles.find((one) => one.id === rule.roleId);
  const department = rule.scopeType === 'project' ? (data.projects.find((one) => one.id === rule.scopeId) || {}).parentId : rule.scopeId;
  const mayDelete = may('access_rules:delete', rule.scopeType === 'department' ? { department } : rule.scopeType === 'project' ? { department, project: rule.scopeId } : {});
  return openDrawer(`rule ${rule.id}`, here({ open: String(rule.id), new: '' }), () => showDrawer(plain(name),
    add(null, 'p', { class: 'sentence' }, add(null, 'b', { text: plain(name) }), ' is ', add(null, 'b', { text: plain(rule.roleName) }), ' of ', add(null, 'b', { text: plain(scopeText(rule)) }), '.'),
    facts([['Kind', SUBJECT_KINDS[rule.subjectType] || rule.subjectType], ['The role', role && role.description], ['Given by', rule.createdBy], ['Since', timeText(rule.createdAt)]]),
    mayDelete ? add(null, 'section', { class: 'drawer-part' }, actionRow('Take the role away', 'It holds for the next request.', () => askFirst({
      title: 'Take the role away?', text: `${plain(name)} is no longer ${plain(rule.roleName)} of ${plain(scopeText(rule))}. Requests that need the role are refused at once.`, save: 'Take it away',
      act: async () => { await call('DELETE', `${REST}/authorization/access-rules/${rule.id}`); say('The access rule was deleted.'); leaveDrawer(); await refresh(); },
    }), 'quiet bad')) : ''));
}

pages.push({
  path: '/access/rules', title: 'Access rules', heading: 'Access', group: 'access', needs: ['access_rules:read'],
  load: async () => {
    const [rules, users, accounts, roles, departments, projects] = await Promise.all([
      getAllRules(''),
      may('users:read') || maySomewhere('users:read') ? get(`${REST}/users?limit=500`) : null,
      maySomewhere('service-account:read') ? get(`${REST}/service-accounts`) : null,
      maySomewhere('roles:read') ? get(`${REST}/authorization/roles`) : [],
      maySomewhere('department:read') ? getAll(`${REST}/org-unit/departments`, 'departments') : [],
      maySomewhere('project:read') ? getAll(`${REST}/org-unit/projects`, 'projects') : [],
    ]);
    const short = (rows) => rows.map(({ id, name, parentId }) => ({ id, name, parentId })).sort((a, b) => a.name.localeCompare(b.name));
    return {
      rules, users: users && users.map(({ id, username }) => ({ id, username })), accounts: accounts && accounts.map(({ id, name }) => ({ id, name })),
      roles: roles.map(({ id, name, description }) => ({ id, name, description })), departments: short(departments), projects: short(projects),
    };
  },
  draw: drawRules,
  drawer: drawRule,
});
