// SPDX-License-Identifier: Apache-2.0

/* The form for the first administrator, who is signed in at once. It stands in setup.html. */
import './style/console.css';

const form = document.querySelector<HTMLFormElement>('#setup')!;

function input(name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

input('code').value = new URLSearchParams(location.search).get('code') ?? '';
// The address stays in the history of the browser: without the code.
history.replaceState(null, '', '/setup');

function showError(text: string): void {
  const [, named, said] = /^(email|password): (.*)$/s.exec(text) ?? [];
  const name = named ?? (text.startsWith('a password') ? 'password' : 'form');
  for (const error of form.querySelectorAll<HTMLElement>('.error')) error.hidden = true;
  const error = document.getElementById(`${name}-error`)!;
  error.textContent = said ?? text;
  error.hidden = false;
  if (name !== 'form') input(name).focus();
}

async function create(): Promise<void> {
  const [code, email, password] = ['code', 'email', 'password'].map((name) => input(name).value) as [string, string, string];
  const made = await fetch('/setup', { method: 'POST', body: new URLSearchParams({ code, email, password }) });
  if (!made.ok) {
    showError(((await made.json()) as { message: string }).message);
    return;
  }
  const body = JSON.stringify({ username: email, password });
  await fetch('/api/muster/v1/login', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  location.replace('/');
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const button = form.querySelector('button')!;
  button.disabled = true;
  create().catch(() => showError('Muster does not answer.')).finally(() => { button.disabled = false; });
});
