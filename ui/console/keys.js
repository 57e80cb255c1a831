/* Keys. None of them acts while somebody types. */

const KEYS = [
  ['g q', 'quota'], ['g p', 'node pools'], ['g a', 'access'], ['g l', 'audit log'], ['j, k', 'next and previous row'], ['Enter', 'open the row'],
  ['c', 'create'], ['/', 'filter'], ['Esc', 'close'], ['t', 'theme: system, light, dark'], ['?', 'these keys'],
];

const GO_KEYS = { q: '/quota', p: '/pools', a: '/access', l: '/audit' };

let isGoing = false;

function moveRow(step) {
  const links = [...byId('main').querySelectorAll('[data-row]')];
  const at = links.findIndex((link) => link === document.activeElement || link.getAttribute('aria-expanded'));
  const next = links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + step))];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
}

function showKeys() {
  const dialog = byId('ask');
  const names = add(null, 'dl', {});
  for (const [key, text] of KEYS) names.append(add(null, 'dt', {}, ...key.split(/, | /).map((k) => add(null, 'kbd', { text: k }))), add(null, 'dd', { text }));
  dialog.replaceChildren(add(null, 'h2', { id: 'ask-title', text: 'Keys' }), names, add(null, 'form', { method: 'dialog' }, add(null, 'button', { class: 'button', text: 'Close' })));
  dialog.showModal();
}

const ACTIONS = {
  j: () => moveRow(1), k: () => moveRow(-1), '/': () => { if (byId('filter')) byId('filter').focus(); }, t: nextTheme, '?': showKeys, g: () => { isGoing = true; },
  c: () => { const link = byId('main').querySelector('[data-new]'); if (link) link.click(); },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('app').hidden || document.querySelector('dialog[open]')) return;
  const isTyping = event.target.matches('input:not([type="checkbox"]), textarea, select');
  const wasGoing = isGoing;
  isGoing = false;
  if (event.key === 'Escape') {
    if (isTyping && !byId('drawer').contains(event.target)) event.target.blur();
    else if (!byId('drawer').hidden) leaveDrawer();
    return;
  }
  if (isTyping) return;
  if (wasGoing && GO_KEYS[event.key]) go(GO_KEYS[event.key]);
  else if (ACTIONS[event.key]) ACTIONS[event.key]();
  else return;
  event.preventDefault();
}
