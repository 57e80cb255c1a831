/* What the four parts of the access page share: the way between them, and rules as sentences. */

const ACCESS_PARTS = [['/access/users', 'Users'], ['/access/service-accounts', 'Service accounts'], ['/access/rules', 'Access rules'], ['/access/roles', 'Roles']];

function accessHead(main, lead, ...actions) {
  const tabs = add(null, 'nav', { class: 'tabs', 'aria-label': 'Access' }, ...ACCESS_PARTS.filter(([path]) => isAllowed(findPage(path))).map(([path, text]) => add(null, 'a', {
    href: path, 'data-focus': path, 'aria-current': path === location.pathname ? 'page' : null, text })));
  main.append(pageHead('Access', lead, ...actions), tabs);
}

function accessPanel(main, title, label) {
  return add(main, 'section', { class: 'panel', 'aria-labelledby': 'list-title' }, add(null, 'header', {}, add(null, 'h2', { id: 'list-title', text: title }), add(null, 'span', { class: 'grow' }), filterBox(label)));
}

const SUBJECT_KINDS = { user: 'User', 'service-account': 'Service account', app: 'Service account', group: 'Group' };

function scopeText(rule) {
  return rule.scopeType === 'tenant' ? 'everything' : rule.scopeType === 'cluster' ? `the cluster ${rule.scopeName}` : `the ${rule.scopeType} ${rule.scopeName}`;
}

/* Rules for whoever may read them: none otherwise. */
async function loadRules(query = '') {
  return maySomewhere('access_rules:read') ? getAllRules(query) : null;
}

/* The list of rules counts its rows and has no "next". */
async function getAllRules(query) {
  const rules = [];
  for (;;) {
    const answer = await get(`${REST}/authorization/access-rules?limit=500&offset=${rules.length}${query}`);
    rules.push(...answer.accessRules);
    if (!answer.accessRules.length || rules.length >= answer.displayRecords) return rules;
  }
}

/* The rules of one subject, as a list with a way to more. */
function rulesOf(rules, subject, kind) {
  if (!rules) return '';
  const own = rules.filter((rule) => rule.subjectId === subject);
  return add(null, 'section', { class: 'drawer-part' }, add(null, 'h3', { text: 'Roles' }),
    own.length ? add(null, 'ul', { class: 'sentences' }, ...own.map((rule) => add(null, 'li', {}, add(null, 'b', { text: plain(rule.roleName) }), ` of ${plain(scopeText(rule))}`)))
      : add(null, 'p', { class: 'dim', text: 'None yet: it can sign in, and sees nothing.' }),
    maySomewhere('access_rules:create') ? add(null, 'p', { class: 'actions' }, add(null, 'a', { class: 'button', href: address('/access/rules', { new: 'rule', kind, subject }), text: 'Give a role' })) : '');
}

/* A button that asks the server for something, and says what is wrong beside it. */
function actionRow(text, hint, act, tone = '') {
  const error = add(null, 'span', { class: 'error', role: 'alert', hidden: true });
  const button = add(null, 'button', { type: 'button', class: `button ${tone}`, text });
  button.addEventListener('click', async () => {
    button.disabled = true;
    error.hidden = true;
    try {
      await act();
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      error.textContent = plain(refusal.message);
      error.hidden = false;
    } finally {
      button.disabled = false;
    }
  });
  return add(null, 'div', { class: 'action-row' }, button, add(null, 'span', { class: 'hint', text: hint }), error);
}
