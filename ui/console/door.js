/* Who are you? The door before the page, the same in front of a page whose session has ended, and passwords. */

const RETURN_KEY = 'muster-return';

/* An identity provider comes back to the start: the place that was asked for is kept for that time. */
function keepPlace() {
  try { sessionStorage.setItem(RETURN_KEY, location.pathname + location.search); } catch { /* It comes back to the start then. */ }
}

function takePlace() {
  try {
    const place = sessionStorage.getItem(RETURN_KEY);
    sessionStorage.removeItem(RETURN_KEY);
    return place && place.startsWith('/') && !place.startsWith('//') ? place : null;
  } catch { return null; }
}

function brand() {
  return add(null, 'p', { class: 'brand' }, add(null, 'span', { class: 'mark', 'aria-hidden': 'true' }, add(null, 'i'), add(null, 'i'), add(null, 'i')), 'Muster');
}

function passwordField(label, name, complete, hint) {
  return field({ path: name, label, kind: 'password', complete, hint, isRequired: true });
}

/* Links to the identity providers, filled in when they are known; the form below does not wait for them. */
function providerLinks() {
  const box = add(null, 'div', { class: 'providers', hidden: true });
  ask('GET', `${OURS}/sso`).then((providers) => {
    for (const one of providers) add(box, 'a', { class: 'button', href: one.login, onclick: keepPlace, text: `Sign in with ${plain(one.name)}` });
    if (!providers.length) return;
    add(box, 'p', { class: 'or dim', text: 'or with a password' });
    box.hidden = false;
  }).catch(() => { /* The password is left. */ });
  return box;
}

/* Calls `done` after a sign-in; it may return a promise that fails. */
function signInForm(name, done) {
  return form({
    fields: [
      field({ path: 'username', label: 'E-mail', kind: 'email', complete: 'username', value: name, isRequired: true }),
      passwordField('Password', 'password', 'current-password'),
    ],
    save: 'Sign in',
    send: async (values) => {
      await ask('POST', `${OURS}/login`, values);
      await loadMe();
      await done(values);
    },
  });
}

/* A new password ends all sessions: the page signs in again with it. */
function passwordForm(done, current) {
  const fields = [passwordField('New password', 'newPassword', 'new-password', 'At least 12 characters.'), passwordField('New password again', 'again', 'new-password')];
  if (!current) fields.unshift(passwordField('Current password', 'currentPassword', 'current-password'));
  /* Password managers keep the new one under this name. */
  fields.unshift(add(null, 'input', { class: 'hidden', autocomplete: 'username', value: me.name, readonly: true, tabindex: '-1', 'aria-hidden': 'true' }));
  return form({
    fields,
    save: 'Change the password',
    send: async ({ currentPassword, newPassword, again }) => {
      if (newPassword !== again) throw new Refusal(400, 'again: the two are not the same');
      const username = me.name;
      await ask('POST', `${REST}/me/password`, { currentPassword: current || currentPassword, newPassword }).catch((refusal) => {
        throw refusal.status === 403 ? new Refusal(403, `currentPassword: ${refusal.message}`)
          : refusal.status === 400 && refusal.message.startsWith('a password') ? new Refusal(400, `newPassword: ${refusal.message}`) : refusal;
      });
      await ask('POST', `${OURS}/login`, { username, password: newPassword });
      await loadMe();
      await done();
    },
  });
}

/* Fills an element with a sign-in, and with the change of a password that has to be changed. */
function fillDoor(box, { title, lead, name }, done) {
  const show = (heading, text, ...children) => {
    box.replaceChildren(brand(), add(null, 'h1', { id: 'door-title', text: heading }), add(null, 'p', { class: 'lead', text }), ...children);
    const input = [...box.querySelectorAll('input')].find((one) => !one.value && !one.readOnly);
    if (input) input.focus();
  };
  const entered = async (values) => {
    if (!me.mustChangePassword) return done();
    show('Choose a password', 'Your password was made for you. Choose one that only you know.', passwordForm(done, values && values.password));
    return null;
  };
  if (me && me.mustChangePassword) entered(null);
  else show(title, lead, providerLinks(), signInForm(name, entered));
}

/* The door in place of the page. */
function showDoor(lead, done) {
  byId('app').hidden = true;
  byId('door').hidden = false;
  closeDrawer();
  document.title = 'Sign in · Muster';
  fillDoor(byId('door-box'), { title: 'Sign in to Muster', lead }, async () => {
    byId('door').hidden = true;
    byId('door-box').replaceChildren();
    await done();
  });
  document.documentElement.dataset.ready = 'door';
}

/* The session has ended: a door over the page, which stays as it is. Everybody who asks meanwhile waits for the same one. */
let again = null;

function signInAgain() {
  const before = me;
  const dialog = byId('again');
  again ||= new Promise((done) => {
    dialog.showModal();
    fillDoor(add(dialog, 'div', {}), { title: 'Sign in again', lead: 'Your session has ended. The page stays as it is.', name: before.name }, async () => {
      dialog.close();
      dialog.replaceChildren();
      again = null;
      /* Somebody else may see other things. */
      if (me.id !== before.id) location.reload();
      done();
    });
  });
  return again;
}

async function signOut() {
  await call('POST', `${OURS}/logout`).catch(() => { /* It has ended already. */ });
  me = null;
  takePlace();
  /* Nothing of what was shown stays in memory. */
  location.replace('/');
}
