/* Puts the parts together. */

function initials(name) {
  return plain(name).split(/[@._\s-]+/).filter(Boolean).slice(0, 2).map((part) => part[0].toUpperCase()).join('');
}

function askForPassword() {
  const dialog = byId('ask');
  const element = passwordForm(() => { dialog.close(); say('The password was changed. Other sessions of yours have ended.'); });
  element.querySelector('.actions').append(add(null, 'button', { type: 'button', class: 'button', onclick: () => dialog.close(), text: 'Cancel' }));
  dialog.replaceChildren(add(null, 'h2', { id: 'ask-title', text: 'Change your password' }), element);
  dialog.showModal();
}

function drawMe() {
  const roles = new Set(me.grants.map((grant) => grant.scopeType));
  byId('scope-note').textContent = roles.has('tenant') ? 'All departments' : 'What you may see';
  byId('scope').textContent = plain(me.clusterName);
  byId('scope-icon').replaceChildren(icon('cluster'));
  byId('who').replaceChildren(add(null, 'span', { class: 'face', 'aria-hidden': 'true', text: initials(me.name) }),
    add(null, 'span', { class: 'grow' }, add(null, 'bdi', { text: plain(me.name) }), add(null, 'small', { text: roles.has('tenant') ? 'in the whole tenant' : roles.size ? `in ${countText(me.grants.length, 'scope')}` : 'no role yet' })), icon('gear', 'dim'));
  const item = (text, act) => add(null, 'button', { type: 'button', class: 'item', onclick: () => { byId('menu').hidePopover(); act(); }, text });
  byId('menu').replaceChildren(item('Change your password', askForPassword), item('Keys', showKeys), item('Sign out', signOut));
}

async function enter() {
  byId('app').hidden = false;
  drawMe();
  const place = location.pathname === '/' && takePlace();
  if (place) history.replaceState(null, '', place);
  route();
}

async function start() {
  startTheme(() => {});
  byId('help').addEventListener('click', showKeys);
  document.addEventListener('keydown', onKey);
  document.addEventListener('click', onLink);
  addEventListener('popstate', () => { if (me && !byId('app').hidden) route(); });
  addEventListener('focus', () => { if (me && view.data && !byId('again').open) refresh(); });
  byId('again').addEventListener('cancel', (event) => event.preventDefault());
  try {
    await loadMe();
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal;
    me = null;
    showDoor(refusal.status === 401 ? 'You come to the page that you asked for.' : refusal.message, enter);
    return;
  }
  if (me.mustChangePassword) showDoor('', enter);
  else await enter();
}

start();
