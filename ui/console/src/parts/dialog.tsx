// SPDX-License-Identifier: Apache-2.0

/* One dialog at a time: a question before something is lost, a secret that is shown once, the keys. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Form } from './form';
import { Icon } from './icon';

const shown = signal<{ title: string; content: ComponentChildren } | null>(null);

export function openDialog(title: string, content: ComponentChildren): void {
  shown.value = { title, content };
}

export function closeDialog(): void {
  shown.value = null;
}

/** The place of the dialog in the document. */
export function Dialog() {
  const ref = useRef<HTMLDialogElement>(null);
  const now = shown.value;
  useLayoutEffect(() => {
    const dialog = ref.current!;
    if (now && !dialog.open) {
      dialog.showModal();
      dialog.querySelector<HTMLElement>('[data-first]')?.focus();
    } else if (!now && dialog.open) {
      dialog.close();
    }
  }, [now]);
  return (
    <dialog id="ask" aria-labelledby="ask-title" ref={ref} onClose={closeDialog}>
      {now && <><h2 id="ask-title">{now.title}</h2>{now.content}</>}
    </dialog>
  );
}

export function Cancel() {
  return <button type="button" class="button" data-first="" onClick={closeDialog}>Cancel</button>;
}

interface Question {
  title: string;
  text: string;
  facts?: string[];
  save: string;
  /** May fail with a Refusal, which the dialog shows. */
  act: () => Promise<void>;
}

/** Asks before something is lost, and says what. */
export function askFirst({ title, text, facts = [], save, act }: Question): void {
  openDialog(title, (
    <Form save={save} send={act} done={closeDialog} more={<Cancel />} isDangerous>
      <p>{text}</p>
      {facts.length ? <ul class="facts-list">{facts.map((one) => <li key={one}>{one}</li>)}</ul> : null}
    </Form>
  ));
}

function Secret({ text, secret }: { text: string; secret: string }) {
  const box = useRef<HTMLElement>(null);
  const [label, setLabel] = useState('Copy');
  const copy = async (): Promise<void> => {
    getSelection()?.selectAllChildren(box.current!);
    try {
      await navigator.clipboard.writeText(secret);
      setLabel('Copied');
    } catch { setLabel('Selected: press Ctrl+C'); }
  };
  return (
    <>
      <p class="dim">{text}</p>
      <code class="secret" tabIndex={0} ref={box}>{secret}</code>
      <p class="warn note"><Icon name="shield" />This is shown only once.</p>
      <p class="actions">
        <button type="button" class="button main" data-first="" onClick={copy}>{label}</button>
        <button type="button" class="button" onClick={closeDialog}>Done</button>
      </p>
    </>
  );
}

/** A secret, which the server tells once. */
export function showSecret(title: string, text: string, secret: string): void {
  openDialog(title, <Secret text={text} secret={secret} />);
}
