'use strict';

/* The code is behind the #, which browsers do not send: it reaches the server in this request alone. */
async function logIn() {
  const code = location.hash.slice(1);
  if (!code) return;
  history.replaceState(null, '', location.pathname);
  const say = document.getElementById('say');
  const how = document.getElementById('how');
  say.textContent = 'Opening Muster';
  try {
    const answer = await fetch('/login', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: code });
    const told = await answer.json();
    if (answer.ok) {
      location.replace(told.path);
      return;
    }
    say.textContent = 'This link was used or has expired';
    how.textContent = 'For a new one, run this command on the machine where Muster runs:';
  } catch {
    say.textContent = 'Muster does not answer';
    how.textContent = 'Start it with muster up. If it is running, this command prints a new link:';
  }
}

addEventListener('hashchange', logIn);
logIn();
