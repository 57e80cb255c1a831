'use strict';

/* The form for the first administrator, who is signed in at once. */
const form = document.getElementById('setup');

form.elements.code.value = new URLSearchParams(location.search).get('code') || '';
/* The address stays in the history of the browser: without the code. */
history.replaceState(null, '', '/setup');

function showError(text) {
  const [, name, why] = /^(email|password): (.*)$/s.exec(text) || [null, text.startsWith('a password') ? 'password' : 'form', text];
  for (const error of form.querySelectorAll('.error')) error.hidden = true;
  const error = document.getElementById(`${name}-error`);
  error.textContent = why;
  error.hidden = false;
  const input = form.elements[name];
  if (input) input.focus();
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  const { code, email, password } = Object.fromEntries(new FormData(form));
  button.disabled = true;
  try {
    const made = await fetch('/setup', { method: 'POST', body: new URLSearchParams({ code, email, password }) });
    if (!made.ok) {
      showError((await made.json()).message);
      return;
    }
    await fetch('/api/muster/v1/login', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ username: email, password }),
    });
    location.replace('/');
  } catch {
    showError('Muster does not answer.');
  } finally {
    button.disabled = false;
  }
});
