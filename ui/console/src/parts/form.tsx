// SPDX-License-Identifier: Apache-2.0

/*
 * Forms. A field has the path of a member in the request, such as resources[0].gpu.limit: what the server says about that member is
 * shown at the field. Everything else is shown above the form. What is typed lives in the document, so that a page that is drawn
 * again takes nothing of it away.
 */
import { createContext, type ComponentChildren, type InputHTMLAttributes } from 'preact';
import { useContext, useId, useRef, useState } from 'preact/hooks';
import { Refusal } from '../api/client';
import { plain } from '../text/plain';

/** What is wrong, by the path of its field; that of the whole form under "". */
const Errors = createContext<Record<string, string>>({});

/** What was entered, by path: texts, and true or false of ticks. */
export class Values {
  private readonly values: Map<string, string | boolean>;

  constructor(values: Map<string, string | boolean>) {
    this.values = values;
  }

  /** Without blanks around it; "" where there is no such field. */
  text(path: string): string {
    return this.raw(path).trim();
  }

  raw(path: string): string {
    const value = this.values.get(path);
    return typeof value === 'string' ? value : '';
  }

  isTicked(path: string): boolean {
    return this.values.get(path) === true;
  }

  has(path: string): boolean {
    return this.values.has(path);
  }

  /** The paths of all ticks that are set. */
  ticks(): string[] {
    return [...this.values].filter(([, value]) => value === true).map(([path]) => path);
  }
}

interface FieldProps {
  path: string;
  label: string;
  kind?: 'text' | 'email' | 'password' | 'number';
  value?: string | number | null | undefined;
  hint?: string | undefined;
  /** A choice instead of a text: pairs of a value and its text. */
  options?: (readonly [value: string | number, text: string])[];
  complete?: string;
  isRequired?: boolean;
  isReadonly?: boolean;
  placeholder?: string;
  mode?: 'decimal' | 'numeric';
  /** The label is said and not shown, as in a row below a head. */
  hidesLabel?: boolean;
  /** The id of a datalist with proposals. */
  list?: string;
  onChange?: (value: string) => void;
}

export function Field({ path, label, kind = 'text', value, hint = '', options, complete = 'off', isRequired, isReadonly, placeholder, mode, hidesLabel, list, onChange }: FieldProps) {
  const id = useId();
  const error = useContext(Errors)[path];
  const seen = plain(value);
  const shownHint = options || seen === String(value ?? '') ? hint : `With marks that cannot be seen: ${seen}`;
  const shared = {
    id, name: path, 'data-path': path, 'aria-describedby': `${id}-hint ${id}-error`, 'aria-required': isRequired ? 'true' as const : undefined,
    'aria-invalid': error ? 'true' as const : undefined,
  };
  const typed = { ...shared, type: kind, list } as InputHTMLAttributes<HTMLInputElement>;
  return (
    <p class="field">
      <label for={id} class={hidesLabel ? 'hidden' : undefined}>{label}</label>
      {options
        ? <select {...shared} disabled={isReadonly} onChange={(event) => onChange?.(event.currentTarget.value)}>
            {options.map(([one, text]) => <option key={one} value={one} selected={String(one) === String(value ?? '')}>{plain(text)}</option>)}
          </select>
        : <input {...typed} autocomplete={complete} readOnly={isReadonly} placeholder={placeholder} spellcheck={false} inputMode={mode}
            defaultValue={value ?? ''} onInput={onChange && ((event) => onChange(event.currentTarget.value))} />}
      <span class="hint" id={`${id}-hint`}>{shownHint}</span>
      <span class="error" id={`${id}-error`} hidden={!error}>{error}</span>
    </p>
  );
}

/** A box with a tick. */
export function Tick({ path, text, isTicked = false }: { path: string; text: string; isTicked?: boolean }) {
  return <label class="tick"><input type="checkbox" name={path} data-path={path} defaultChecked={isTicked} />{text}</label>;
}

type Input = HTMLInputElement | HTMLSelectElement;

function inputsOf(form: HTMLElement): Input[] {
  return [...form.querySelectorAll<Input>('[data-path]')];
}

/** The field of a path; that of a member of it where the path itself has none. */
function inputOf(form: HTMLElement, path: string): Input | undefined {
  const inputs = inputsOf(form);
  return inputs.find((input) => input.dataset.path === path) ?? inputs.find((input) => input.dataset.path!.startsWith(`${path}.`))
    ?? inputs.find((input) => path.endsWith(`.${input.dataset.path}`));
}

function readValues(form: HTMLElement): Values {
  return new Values(new Map(inputsOf(form).map((input) => [input.dataset.path!, input instanceof HTMLInputElement && input.type === 'checkbox' ? input.checked : input.value])));
}

/** The server says which values are allowed; what is empty needs no request. */
function findEmpty(form: HTMLElement): Input | undefined {
  return inputsOf(form).find((input) => input.getAttribute('aria-required') && !input.value.trim());
}

function errorsOf(form: HTMLElement, refusal: Refusal): Record<string, string> {
  const named = refusal.field;
  const input = named && inputOf(form, named.path);
  // The REST's name of what the page calls quota.
  const text = plain(input ? named.why : refusal.message).replace(/\bdeserved\b/, 'the quota');
  if (!input) return { '': text };
  for (let details = input.closest('details'); details; details = details.parentElement!.closest('details')) details.open = true;
  input.focus();
  return { [input.dataset.path!]: text };
}

interface FormProps<Answer> {
  save: string;
  /** Sends what was entered; it may fail with a Refusal, which is shown at its field. */
  send: (values: Values) => Promise<Answer> | Answer;
  /** Called after it. */
  done?: (answer: Answer) => void | Promise<void>;
  /** Buttons beside the one that sends. */
  more?: ComponentChildren;
  isDangerous?: boolean;
  /** A second way to send what was entered, such as a check that changes nothing. */
  also?: { text: string; send: (values: Values) => Promise<void> } | undefined;
  children?: ComponentChildren;
}

export function Form<Answer>({ save, send, done, more, isDangerous, also, children }: FormProps<Answer>) {
  const ref = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [isSending, setSending] = useState(false);
  const fail = (refusal: Refusal): void => setErrors(errorsOf(ref.current!, refusal));
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isSending) return;
    setErrors({});
    const empty = findEmpty(ref.current!);
    if (empty) {
      fail(new Refusal(400, `${empty.dataset.path}: this is needed`));
      return;
    }
    setSending(true);
    const values = readValues(ref.current!);
    try {
      if (also && event.submitter?.getAttribute('value') === 'also') {
        await also.send(values);
        return;
      }
      const answer = await send(values);
      await done?.(answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (ref.current) fail(error);
    } finally {
      setSending(false);
    }
  };
  return (
    <form class="form" noValidate ref={ref} onSubmit={onSubmit}>
      <p class="error form-error" role="alert" hidden={!errors['']}>{errors['']}</p>
      <Errors.Provider value={errors}>{children}</Errors.Provider>
      <p class="actions">
        <button class={isDangerous ? 'button main danger' : 'button main'} disabled={isSending}>{save}</button>
        {also && <button class="button" value="also" disabled={isSending}>{also.text}</button>}{more}
      </p>
    </form>
  );
}
