/*
 * Forms. A field has the path of a member in the request, such as resources[0].gpu.limit: what the server says about that member is
 * shown at the field. Everything else is shown above the form.
 */

let fieldCount = 0;

/* { path, label, kind, value, hint, options, complete, isRequired, isReadonly, placeholder, mode }; `options` as [[value, text], ...]. */
function field(spec) {
  const id = `field-${++fieldCount}`;
  const tag = spec.options ? 'select' : 'input';
  const input = add(null, tag, {
    id, name: spec.path, 'data-path': spec.path, type: tag === 'input' ? spec.kind || 'text' : null, autocomplete: spec.complete || 'off',
    'aria-describedby': `${id}-hint ${id}-error`, 'aria-required': spec.isRequired ? 'true' : null, readonly: spec.isReadonly, placeholder: spec.placeholder,
    spellcheck: 'false', inputmode: spec.mode,
  });
  for (const [value, text] of spec.options || []) add(input, 'option', { value, text: plain(text) });
  if (spec.value !== undefined && spec.value !== null) input.value = spec.value;
  const seen = tag === 'select' ? input.value : plain(input.value);
  const hint = seen === input.value ? spec.hint || '' : `With marks that cannot be seen: ${seen}`;
  return add(null, 'p', { class: 'field' }, add(null, 'label', { for: id, text: spec.label }), input,
    add(null, 'span', { class: 'hint', id: `${id}-hint`, text: hint }), add(null, 'span', { class: 'error', id: `${id}-error`, hidden: true }));
}

/* A box with a tick. */
function tickField(path, text, isTicked) {
  const input = add(null, 'input', { type: 'checkbox', name: path, 'data-path': path });
  input.checked = isTicked;
  return add(null, 'label', { class: 'tick' }, input, text);
}

function clearErrors(element) {
  for (const error of element.querySelectorAll('.error')) error.hidden = true;
  for (const input of element.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
}

/* The field of a path; that of a member of it where the path itself has none. */
function fieldOf(element, path) {
  const inputs = [...element.querySelectorAll('[data-path]')];
  return inputs.find((input) => input.dataset.path === path) || inputs.find((input) => input.dataset.path.startsWith(`${path}.`))
    || inputs.find((input) => path.endsWith(`.${input.dataset.path}`));
}

function showRefusal(element, refusal) {
  const named = refusal.field;
  const input = named && fieldOf(element, named.path);
  const error = input ? byId(`${input.id}-error`) : element.querySelector('.form-error');
  /* The REST's name of what the page calls quota. */
  error.textContent = plain(input ? named.why : refusal.message).replace(/\bdeserved\b/, 'the quota');
  error.hidden = false;
  if (!input) {
    error.scrollIntoView({ block: 'nearest' });
    return;
  }
  for (let details = input.closest('details'); details; details = details.parentElement.closest('details')) details.open = true;
  input.setAttribute('aria-invalid', 'true');
  input.focus();
}

/* The server says which values are allowed; what is empty needs no request. */
function findEmpty(element) {
  return [...element.querySelectorAll('[aria-required]')].find((input) => !input.value.trim());
}

/* `send` gets the values by path and fails with a Refusal; `done` is called after it. */
function form({ fields, save, send, done, more = [] }) {
  const button = add(null, 'button', { class: 'button main', text: save });
  const element = add(null, 'form', { class: 'form', novalidate: true }, add(null, 'p', { class: 'error form-error', role: 'alert', hidden: true }), ...fields,
    add(null, 'p', { class: 'actions' }, button, ...more));
  element.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    clearErrors(element);
    const empty = findEmpty(element);
    if (empty) {
      showRefusal(element, new Refusal(400, `${empty.dataset.path}: this is needed`));
      return;
    }
    const values = Object.fromEntries([...element.querySelectorAll('[data-path]')].map((input) => [input.dataset.path, input.type === 'checkbox' ? input.checked : input.value]));
    button.disabled = true;
    try {
      const answer = await send(values);
      if (done) await done(answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      showRefusal(element, error);
    } finally {
      button.disabled = false;
    }
  });
  return element;
}

/* Asks before something is lost, and says what. `act` may fail with a Refusal. */
function askFirst({ title, text, facts = [], act, save }) {
  const dialog = byId('ask');
  const cancel = add(null, 'button', { type: 'button', class: 'button', onclick: () => dialog.close(), text: 'Cancel' });
  const element = form({
    fields: [add(null, 'p', { text }), facts.length ? add(null, 'ul', { class: 'facts-list' }, ...facts.map((one) => add(null, 'li', { text: one }))) : ''],
    save,
    send: act,
    done: () => dialog.close(),
    more: [cancel],
  });
  element.querySelector('.button.main').classList.add('danger');
  dialog.replaceChildren(add(null, 'h2', { id: 'ask-title', text: title }), element);
  dialog.showModal();
  cancel.focus();
}

/* A secret, which the server tells once. */
function showSecret(title, text, secret) {
  const dialog = byId('ask');
  const box = add(null, 'code', { class: 'secret', tabindex: '0', text: secret });
  const copy = add(null, 'button', { type: 'button', class: 'button main', text: 'Copy' });
  copy.addEventListener('click', async () => {
    getSelection().selectAllChildren(box);
    try {
      await navigator.clipboard.writeText(secret);
      copy.textContent = 'Copied';
    } catch { copy.textContent = 'Selected: copy it by key'; }
  });
  dialog.replaceChildren(add(null, 'h2', { id: 'ask-title', text: title }), add(null, 'p', { class: 'dim', text }), box,
    add(null, 'p', { class: 'warn note' }, icon('shield'), 'You will not see this again.'),
    add(null, 'p', { class: 'actions' }, copy, add(null, 'button', { type: 'button', class: 'button', onclick: () => { dialog.close(); dialog.replaceChildren(); }, text: 'Done' })));
  dialog.addEventListener('close', () => dialog.replaceChildren(), { once: true });
  dialog.showModal();
  copy.focus();
}
