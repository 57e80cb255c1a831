/* The theme: as the system, until a person chooses. The button of the id "theme" goes through them. */

const THEMES = ['system', 'light', 'dark'];

let onTheme = () => {};

function setTheme(theme) {
  const names = { system: 'as the system', light: 'light', dark: 'dark' };
  const button = byId('theme');
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem('muster-theme', theme); } catch { /* It holds for this page then. */ }
  button.replaceChildren(icon(theme));
  button.setAttribute('aria-label', `Theme: ${names[theme]}`);
  onTheme();
}

function nextTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
}

/* `changed` is called for everything that is not drawn by style sheets. */
function startTheme(changed) {
  let theme = 'system';
  onTheme = changed;
  byId('theme').addEventListener('click', nextTheme);
  try { theme = localStorage.getItem('muster-theme') || theme; } catch { /* As the system. */ }
  setTheme(THEMES.includes(theme) ? theme : 'system');
}
