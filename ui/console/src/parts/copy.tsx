// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from 'preact/hooks';
import { plain } from '../text/plain';

/** Commands to copy. Marks that cannot be seen are written out, so that what is pasted is what was read. */
export function Copy({ text }: { text: string }) {
  const box = useRef<HTMLElement>(null);
  const [label, setLabel] = useState('Copy');
  const lines = text.split('\n').map(plain).join('\n');
  const copy = async (): Promise<void> => {
    getSelection()?.selectAllChildren(box.current!);
    try {
      await navigator.clipboard.writeText(lines);
      setLabel('Copied');
    } catch { setLabel('Selected: press Ctrl+C'); }
  };
  return <div class="copy"><pre tabIndex={0}><code ref={box}>{lines}</code></pre><button type="button" class="more" onClick={() => { void copy(); }}>{label}</button></div>;
}
