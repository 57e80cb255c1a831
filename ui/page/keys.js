/* Keys. None of them acts while somebody types. */

const KEYS = [
  ['j, k', 'next and previous workload'], ['Enter', 'open the workload: why it waits, and its events'], ['Esc', 'close'],
  ['/', 'filter'], ['a, p, r, f', 'all, pending, running, finished workloads'], ['g', 'go to the map of GPUs; arrow keys move there'],
  ['t', 'theme: system, light, dark'], ['?', 'these keys'],
];

function moveLine(step) {
  const lines = [...byId('workloads').querySelectorAll('tbody tr')];
  const at = lines.findIndex((line) => line === document.activeElement || line.contains(document.activeElement) || line.dataset.id === selectedId());
  const next = lines[Math.max(0, Math.min(lines.length - 1, at < 0 ? 0 : at + step))];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: 'nearest' });
  if (selectedId()) openWorkload(next.dataset.id);
}

function showKeys() {
  const dialog = byId('keys');
  const names = add(null, 'dl', {});
  for (const [key, text] of KEYS) names.append(add(null, 'dt', {}, ...key.split(', ').map((k) => add(null, 'kbd', { text: k }))), add(null, 'dd', { text }));
  dialog.replaceChildren(add(null, 'h2', { id: 'keys-title', text: 'Keys' }), names,
    add(null, 'form', { method: 'dialog' }, add(null, 'button', { class: 'button', text: 'Close' })));
  dialog.showModal();
}

const ACTIONS = {
  j: () => moveLine(1), k: () => moveLine(-1), '/': () => byId('filter').focus(), t: nextTheme, '?': showKeys,
  a: () => setState('all'), p: () => setState('pending'), r: () => setState('running'), f: () => setState('finished'),
  g: () => { if (map.canvas) { map.canvas.focus(); if (!map.cursor) moveCursor(1, 0); } },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return;
  const isTyping = event.target.matches('input, textarea, select');
  if (event.key === 'Escape') {
    if (isTyping) event.target.blur();
    else if (selectedId()) openWorkload('');
    return;
  }
  if (isTyping) return;
  if (event.key === 'Enter' && event.target.dataset.id) openWorkload(event.target.dataset.id);
  else if (ACTIONS[event.key]) ACTIONS[event.key]();
  else return;
  event.preventDefault();
}

function startKeys() {
  document.addEventListener('keydown', onKey);
  byId('help').addEventListener('click', showKeys);
  startTheme(paintMap);
}
