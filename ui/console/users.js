/* Users and service accounts: who can sign in at all. */

function countRules(rules, subject) {
  return rules ? rules.filter((rule) => rule.subjectId === subject).length : null;
}

function rolesCell(rules, subject) {
  const count = countRules(rules, subject);
  return add(null, 'span', { class: count ? null : 'zero', text: count === null ? '–' : count ? String(count) : 'none' });
}

/* --- users --- */

function drawUsers(main, { users, rules }, query) {
  const words = query.get('q') || '';
  const rows = users.filter((user) => matches(words, user.username, ...(user.groups || [])));
  accessHead(main, `${countText(users.length, 'user')}. What they may do follows from access rules, theirs and those of their groups.`,
    ...(may('users:create') ? [mainButton('New user', here({ new: 'user', open: '' }))] : []));
  const panel = accessPanel(main, 'Users', 'Filter by e-mail or group');
  if (!rows.length) {
    panel.append(noMatch());
    return;
  }
  panel.append(table({
    label: 'Users', rows,
    columns: [
      { head: 'User', isName: true, cell: (user) => rowLink(user.username, here({ open: user.id, new: '' }), user.id === me.id ? add(null, 'small', { text: 'you' }) : '') },
      { head: 'Signs in', isWide: true, cell: (user) => (user.isLocal ? 'with a password' : `at ${user.idpAlias || user.idp || 'a provider'}`) },
      { head: 'Groups', isWide: true, className: 'fill', cell: (user) => (user.groups || []).join(', ') || '–' },
      { head: 'Own roles', isNumber: true, cell: (user) => rolesCell(rules, user.id) },
      { head: 'Created', isWide: true, isNumber: true, cell: (user) => timeText(user.createdAt) },
      { head: 'Last sign-in', isNumber: true, cell: (user) => (user.lastLogin ? timeText(user.lastLogin) : 'never') },
    ],
  }));
}

function newUserForm() {
  return form({
    fields: [
      field({ path: 'email', label: 'E-mail', kind: 'email', isRequired: true, hint: 'It is the name to sign in with. No mail is sent.' }),
      tickField('resetPassword', 'The user chooses a password at the first sign-in', true),
    ],
    save: 'Create the user',
    send: (values) => call('POST', `${REST}/users`, { email: values.email.trim(), resetPassword: values.resetPassword }),
    done: async (made) => {
      go(here({ new: '', open: made.id }));
      await refresh();
      showSecret(`Password of ${plain(made.username)}`, 'Give it to the user in a safe way.', made.tempPassword);
    },
  });
}

function drawUser({ users, rules }, query) {
  if (query.get('new') === 'user' && may('users:create')) return openDrawer('new user', here({ new: 'user', open: '' }), () => showDrawer('New user', newUserForm()));
  const user = users.find((one) => one.id === query.get('open'));
  if (!user) return false;
  const own = rules ? rules.filter((rule) => rule.subjectId === user.id) : [];
  return openDrawer(`user ${user.id} ${own.length} ${user.lastLogin}`, here({ open: user.id, new: '' }), () => {
    const path = `${REST}/users/${user.id}`;
    const actions = [];
    if (may('users:update') && user.isLocal) {
      actions.push(actionRow('New password', 'Makes a password and ends all sessions of the user.', async () => showSecret(`Password of ${plain(user.username)}`, 'Give it to the user in a safe way. At the next sign-in the user chooses another one.', (await call('POST', `${path}/password`)).tempPassword)));
    }
    if (may('users:update')) actions.push(actionRow('Sign out everywhere', 'Ends all sessions and tokens of the user.', async () => { await call('POST', `${path}/logout`); say(`${user.username} is signed out.`); }));
    if (may('users:delete') && user.id !== me.id) {
      actions.push(actionRow('Delete', 'With access keys and access rules.', () => askFirst({
        title: `Delete ${plain(user.username)}?`, text: 'This cannot be undone. It deletes:', facts: ['the user, whose sessions and tokens end at once', 'access keys of the user', `${countText(own.length, 'access rule')} of the user`], save: 'Delete the user',
        act: async () => { await call('DELETE', path); say(`${user.username} was deleted.`); leaveDrawer(); await refresh(); },
      }), 'quiet bad'));
    }
    showDrawer(plain(user.username), facts([
      ['Signs in', user.isLocal ? 'with a password' : `at ${user.idpAlias || user.idp || 'an identity provider'}`], ['Groups', (user.groups || []).join(', ')], ['Last sign-in', user.lastLogin ? timeText(user.lastLogin) : 'never'],
      ['Created', `${timeText(user.createdAt)} by ${user.createdBy}`],
    ]), rulesOf(rules, user.id, 'user'), actions.length ? add(null, 'section', { class: 'drawer-part' }, add(null, 'h3', { text: 'Account' }), ...actions) : '');
  });
}

pages.push({
  path: '/access/users', title: 'Users', heading: 'Access', name: 'Access', icon: 'people', group: 'access', needs: ['users:read'],
  load: async () => {
    const [users, rules] = await Promise.all([get(`${REST}/users?limit=500`), loadRules()]);
    return { users: users.sort((a, b) => a.username.localeCompare(b.username)), rules };
  },
  draw: drawUsers,
  drawer: drawUser,
});

/* --- service accounts --- */

function drawAccounts(main, { accounts, rules }, query) {
  const words = query.get('q') || '';
  const rows = accounts.filter((account) => matches(words, account.name));
  accessHead(main, `${countText(accounts.length, 'service account')} for programs, which sign in with a secret.`,
    ...(may('service-account:create') ? [mainButton('New service account', here({ new: 'account', open: '' }))] : []));
  const panel = accessPanel(main, 'Service accounts', 'Filter by name');
  if (!accounts.length) panel.append(emptyState('No service accounts yet', 'A program asks for a token with the secret of its service account, and sends it with each request.', add(null, 'pre', {}, add(null, 'code', { text: `curl -s ${location.origin}/api/v1/token -H 'Content-Type: application/json' -d '{"grantType": "client_credentials", "clientID": "robot", "clientSecret": "..."}'` }))));
  else if (!rows.length) panel.append(noMatch());
  else {
    panel.append(table({
      label: 'Service accounts', rows,
      columns: [
        { head: 'Service account', isName: true, cell: (account) => rowLink(account.name, here({ open: account.id, new: '' })) },
        { head: 'State', cell: (account) => add(null, 'span', { class: 'phase' }, icon(account.enabled ? 'disc' : 'square', account.enabled ? 'good' : 'dim'), account.enabled ? 'enabled' : 'disabled') },
        { head: 'Roles', isNumber: true, cell: (account) => rolesCell(rules, account.id) },
        { head: 'Created by', isWide: true, className: 'fill', cell: (account) => account.createdBy },
        { head: 'Created', isWide: true, isNumber: true, cell: (account) => timeText(account.createdAt) },
        { head: 'Last sign-in', isWide: true, isNumber: true, cell: (account) => (account.lastLogin ? timeText(account.lastLogin) : 'never') },
      ],
    }));
  }
}

function newAccountForm() {
  return form({
    fields: [field({ path: 'name', label: 'Name', isRequired: true, hint: 'Lower-case letters, digits, "-" and "_". It is the client ID.' })],
    save: 'Create the service account',
    send: (values) => call('POST', `${REST}/service-accounts`, { name: values.name.trim() }),
    done: async (made) => {
      go(here({ new: '', open: made.id }));
      await refresh();
      showSecret(`Secret of ${plain(made.name)}`, `The client ID is ${plain(made.clientId)}.`, made.clientSecret);
    },
  });
}

function drawAccount({ accounts, rules }, query) {
  if (query.get('new') === 'account' && may('service-account:create')) return openDrawer('new account', here({ new: 'account', open: '' }), () => showDrawer('New service account', newAccountForm()));
  const account = accounts.find((one) => one.id === query.get('open'));
  if (!account) return false;
  const own = rules ? rules.filter((rule) => rule.subjectId === account.id) : [];
  return openDrawer(`account ${account.id} ${account.updatedAt} ${own.length}`, here({ open: account.id, new: '' }), () => {
    const path = `${REST}/service-accounts/${account.id}`;
    const actions = [];
    if (may('service-account:update')) {
      actions.push(
        actionRow('New secret', 'The old secret and all tokens end at once.', async () => showSecret(`Secret of ${plain(account.name)}`, `The client ID is ${plain(account.clientId)}.`, (await call('POST', `${path}/secret`)).clientSecret)),
        actionRow(account.enabled ? 'Disable' : 'Enable', account.enabled ? 'Its tokens end at once.' : 'It can sign in again.', async () => { await call('PATCH', path, { enabled: !account.enabled }); say(`${account.name} is ${account.enabled ? 'disabled' : 'enabled'}.`); await refresh(); }),
      );
    }
    if (may('service-account:delete')) {
      actions.push(actionRow('Delete', 'With its access rules.', () => askFirst({
        title: `Delete ${plain(account.name)}?`, text: 'This cannot be undone. It deletes:', facts: ['the service account, whose tokens end at once', `${countText(own.length, 'access rule')} of it`], save: 'Delete the service account',
        act: async () => { await call('DELETE', path); say(`${account.name} was deleted.`); leaveDrawer(); await refresh(); },
      }), 'quiet bad'));
    }
    showDrawer(plain(account.name), facts([['Client ID', add(null, 'code', { text: account.clientId })], ['State', account.enabled ? 'enabled' : 'disabled'], ['Last sign-in', account.lastLogin ? timeText(account.lastLogin) : 'never'], ['Created', `${timeText(account.createdAt)} by ${account.createdBy}`]]),
      rulesOf(rules, account.id, 'service-account'), actions.length ? add(null, 'section', { class: 'drawer-part' }, add(null, 'h3', { text: 'Account' }), ...actions) : '');
  });
}

pages.push({
  path: '/access/service-accounts', title: 'Service accounts', heading: 'Access', group: 'access', needs: ['service-account:read'],
  load: async () => {
    const [accounts, rules] = await Promise.all([get(`${REST}/service-accounts`), loadRules()]);
    return { accounts: accounts.sort((a, b) => a.name.localeCompare(b.name)), rules };
  },
  draw: drawAccounts,
  drawer: drawAccount,
});
