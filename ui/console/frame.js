/*
 * The frame around all pages: the address, the navigation, loading, and what is shown while there is nothing to show. A page is
 * { path, title, icon, needs, isWhole, load(query), draw(main, data, query), drawer(data, query) }: `needs` are permissions of which
 * one is enough, in the whole tenant where `isWhole` is set; `load` reads what it shows; `draw` and `drawer` show it, and are called
 * whenever the data or the address changes.
 */

const pages = [];
const view = { page: null, query: new URLSearchParams(), loaded: null, data: null, error: null, drawn: '', shapes: 0 };

const POLL_SOON = 1000;
const POLL_LATER = 15000;

/* --- the address --- */

/* A path with those parameters of the query that have a value. */
function address(path, query = {}) {
  const parts = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '' && value !== undefined && value !== null));
  return parts.size ? `${path}?${parts}` : path;
}

/* This address with other parameters. */
function here(changes) {
  return address(location.pathname, { ...Object.fromEntries(view.query), ...changes });
}

function go(where, replaces = false) {
  if (where === location.pathname + location.search) return;
  history[replaces ? 'replaceState' : 'pushState'](null, '', where);
  route();
}

/* Links of the page are followed without loading it anew; with a key of the browser they open as any link does. */
function onLink(event) {
  const link = event.target.closest('a[href^="/"]');
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || link.getAttribute('href').startsWith('/api/')) return;
  event.preventDefault();
  go(link.getAttribute('href'));
}

const isAllowed = (page) => page.needs.some((permission) => (page.isWhole ? may(permission) : maySomewhere(permission)));

function findPage(path) {
  return pages.find((page) => page.path === path) || null;
}

function route() {
  view.query = new URLSearchParams(location.search);
  const page = findPage(location.pathname);
  if (!page) {
    const first = pages.find(isAllowed) || pages[0];
    go(location.pathname === '/access' ? (pages.find((one) => one.path.startsWith('/access/') && isAllowed(one)) || first).path : first.path, true);
    return;
  }
  if (page !== view.page) {
    Object.assign(view, { page, data: null, error: null, drawn: '', loaded: null });
    scrollTo(0, 0);
  }
  document.title = `${page.title} · Muster`;
  drawNav();
  const key = page.key ? page.key(view.query) : '';
  if (view.loaded === key) {
    draw();
  } else {
    draw();
    refresh();
  }
}

/* --- loading --- */

async function refresh() {
  const { page, query } = view;
  if (!page || !isAllowed(page)) return;
  const key = page.key ? page.key(query) : '';
  try {
    const data = await page.load(query);
    if (view.page !== page || (page.key && page.key(view.query) !== key)) return;
    Object.assign(view, { data, error: null, loaded: key });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (view.page !== page) return;
    view.error = error;
  }
  draw();
}

let pollTimer = 0;

/* Soon where something is on its way, else now and then; a hidden tab asks nothing. */
function pollLater() {
  clearTimeout(pollTimer);
  const isMoving = view.data && view.page.isMoving && view.page.isMoving(view.data);
  pollTimer = setTimeout(async () => {
    if (me && !document.hidden && !byId('again').open) await refresh();
    pollLater();
  }, isMoving ? POLL_SOON : POLL_LATER);
}

/* --- drawing --- */

/* What has the focus is found again by its name, so that nothing is lost when the data changes under it. */
function keepingFocus(box, change) {
  const active = document.activeElement;
  const name = box.contains(active) && active.dataset.focus;
  const typed = name && active.matches('input[type="search"]') ? [active.value, active.selectionStart, active.selectionEnd] : null;
  change();
  const same = name && [...box.querySelectorAll('[data-focus]')].find((one) => one.dataset.focus === name);
  if (!same) return;
  same.focus({ preventScroll: true });
  if (!typed) return;
  /* It may be ahead of the address. */
  [same.value] = typed;
  same.setSelectionRange(typed[1], typed[2]);
}

/* Grey shapes in the size of what comes, when it takes longer than one notices. */
function drawShapes(main) {
  clearTimeout(view.shapes);
  main.replaceChildren(pageHead(view.page.heading || view.page.title, ''));
  view.shapes = setTimeout(() => {
    if (view.data || view.error) return;
    const shapes = add(main, 'div', { class: 'panel shapes', 'aria-hidden': 'true' });
    for (let i = 0; i < 8; i++) add(shapes, 'i');
    add(main, 'p', { class: 'hidden', role: 'status', text: 'Loading' });
  }, 150);
}

function drawTrouble(main, { status, message }) {
  const isForbidden = status === 403;
  main.replaceChildren(pageHead(view.page.heading || view.page.title, ''), add(null, 'section', { class: 'panel state' },
    icon(isForbidden ? 'shield' : 'octagon', isForbidden ? 'dim' : 'bad'),
    add(null, 'h2', { text: isForbidden ? 'You may not see this' : 'This could not be read' }),
    add(null, 'p', { class: 'dim', text: isForbidden ? `${message} An administrator can give you a role that allows it.` : plain(message) }),
    isForbidden ? '' : add(null, 'button', { type: 'button', class: 'button', onclick: refresh, 'data-focus': 'retry', text: 'Try now' })));
}

function draw() {
  const main = byId('main');
  const { page, data, error } = view;
  document.documentElement.dataset.ready = data || error || !isAllowed(page) ? page.path : 'loading';
  drawContact();
  if (!isAllowed(page)) {
    closeDrawer();
    drawTrouble(main, { status: 403, message: `You have no role that allows ${page.title.toLowerCase()} to be read.` });
    return;
  }
  if (!data) {
    view.drawn = '';
    if (error) drawTrouble(main, error);
    else drawShapes(main);
    return;
  }
  clearTimeout(view.shapes);
  const state = JSON.stringify([location.pathname, location.search, data]);
  if (state === view.drawn) return;
  view.drawn = state;
  keepingFocus(main, () => {
    main.replaceChildren();
    page.draw(main, data, view.query);
  });
  if (!(page.drawer && page.drawer(data, view.query))) closeDrawer();
  pollLater();
}

function pageHead(title, lead, ...actions) {
  return add(null, 'div', { class: 'head' },
    add(null, 'div', { class: 'grow' }, add(null, 'h1', { text: title }), add(null, 'p', { class: 'lead', id: 'lead', text: lead })), ...actions);
}

function drawNav() {
  const shown = pages.filter((page) => page.icon);
  byId('nav').replaceChildren(...shown.map((page) => {
    const target = page.group ? (pages.find((one) => one.group === page.group && isAllowed(one)) || page).path : page.path;
    const isHere = page === view.page || (page.group && page.group === view.page.group);
    return add(null, 'li', { hidden: !(page.group ? pages.some((one) => one.group === page.group && isAllowed(one)) : isAllowed(page)) },
      add(null, 'a', { href: target, class: 'item', 'aria-current': isHere ? 'page' : null }, icon(page.icon), add(null, 'span', { text: page.name || page.title })));
  }));
  byId('crumbs').replaceChildren(add(null, 'span', { text: plain(me.clusterName) }), add(null, 'span', { 'aria-hidden': 'true', text: '/' }), add(null, 'b', { text: view.page.heading || view.page.title }));
}

/* When the server has answered last; in amber when it does not. */
function drawContact() {
  const live = byId('live');
  const since = contact.at ? clockText(contact.at) : '';
  const text = contact.problem ? `${contact.problem}. What you see is from ${since}.` : `Live ${since}`;
  live.classList.toggle('cut', Boolean(contact.problem));
  live.lastElementChild.textContent = contact.problem ? `No answer since ${since}` : text;
  byId('notice').hidden = !(contact.problem && view.data);
  if (contact.problem && byId('notice').dataset.text !== text) {
    byId('notice').dataset.text = text;
    byId('notice').replaceChildren(text, ' ', add(null, 'button', { type: 'button', class: 'more', onclick: refresh, text: 'Try now' }));
  }
}

/* --- the drawer, and short messages --- */

function showDrawer(title, ...children) {
  const drawer = byId('drawer');
  const wasOpen = !drawer.hidden;
  drawer.hidden = false;
  document.body.classList.add('has-drawer');
  drawer.replaceChildren(add(null, 'header', {}, add(null, 'h2', { id: 'drawer-title', text: title }),
    add(null, 'button', { type: 'button', class: 'icon', 'aria-label': 'Close', title: 'Close (Esc)', onclick: leaveDrawer }, icon('cross'))), ...children);
  const input = drawer.querySelector('input:not([type="hidden"]):not([readonly]), select');
  if (!wasOpen) (input || drawer).focus({ preventScroll: true });
}

function closeDrawer() {
  const drawer = byId('drawer');
  if (drawer.hidden) return;
  const hadFocus = drawer.contains(document.activeElement);
  const row = drawer.dataset.row;
  drawer.hidden = true;
  drawer.replaceChildren();
  delete drawer.dataset.shown;
  document.body.classList.remove('has-drawer');
  const back = row && [...document.querySelectorAll('[data-focus]')].find((one) => one.dataset.focus === row);
  if (hadFocus) (back || byId('main')).focus({ preventScroll: true });
}

function leaveDrawer() {
  go(here({ open: '', new: '', in: '' }));
}

/* Fills the drawer when it shows something else than before, so that what one types is not drawn over. */
function openDrawer(name, row, fill) {
  const drawer = byId('drawer');
  drawer.dataset.row = row;
  if (!drawer.hidden && drawer.dataset.shown === name) return true;
  drawer.dataset.shown = name;
  fill();
  return true;
}

let toastTimer = 0;

function say(text) {
  clearTimeout(toastTimer);
  byId('toast').textContent = text;
  toastTimer = setTimeout(() => { byId('toast').textContent = ''; }, 6000);
}
