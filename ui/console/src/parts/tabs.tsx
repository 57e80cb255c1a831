// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface TabLink {
  text: string;
  where: string;
  isHere: boolean;
}

/** Links of which one is where one is; it is brought into sight where not all have room. */
export function Tabs({ label, tabs }: { label: string; tabs: TabLink[] }) {
  const ref = useRef<HTMLElement>(null);
  const here = tabs.find((tab) => tab.isHere)?.where;
  useLayoutEffect(() => {
    const box = ref.current!;
    const tab = box.querySelector<HTMLElement>('[aria-current]');
    if (tab && tab.offsetLeft + tab.offsetWidth > box.scrollLeft + box.clientWidth) box.scrollLeft = tab.offsetLeft + tab.offsetWidth - box.clientWidth;
  }, [here]);
  return (
    <nav class="tabs" aria-label={label} ref={ref}>
      {tabs.map(({ text, where, isHere }) => <a key={where} href={where} aria-current={isHere ? 'page' : undefined}>{text}</a>)}
    </nav>
  );
}
