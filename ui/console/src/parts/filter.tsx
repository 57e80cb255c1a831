// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from 'preact/hooks';
import { go, here, param } from '../state/address';

const TYPED = 120;

/** A text filter that stands in the address; the key "/" leads to the one whose parameter is `q`. */
export function FilterBox({ label, name = 'q', placeholder = 'Filter' }: { label: string; name?: string; placeholder?: string }) {
  const ref = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  const value = param(name);
  // What is typed may be ahead of the address: it is not taken back while the box has the focus, unless the address was cleared.
  useEffect(() => {
    const box = ref.current!;
    if (document.activeElement !== box || (!value && !timer.current)) box.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onInput = (): void => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      go(here({ [name]: ref.current!.value.trim() }), true);
    }, TYPED);
  };
  return <input ref={ref} type="search" id={name === 'q' ? 'filter' : undefined} placeholder={placeholder} aria-label={label} autocomplete="off" onInput={onInput} />;
}

export interface Choice {
  text: string;
  /** Where it leads, or what it does where that stands in no address. */
  where?: string;
  act?: () => void;
  isOn: boolean;
}

/** Buttons of which one is pressed. */
export function Segments({ label, choices }: { label: string; choices: Choice[] }) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map(({ text, where, act, isOn }) => <button key={text} type="button" aria-pressed={isOn} onClick={() => (where === undefined ? act?.() : go(where))}>{text}</button>)}
    </div>
  );
}
