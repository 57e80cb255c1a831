// SPDX-License-Identifier: Apache-2.0
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** The inner width of an element in whole pixels, 0 before it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return undefined;
    const look = (): void => setWidth(Math.floor(box.clientWidth));
    const observer = new ResizeObserver(look);
    observer.observe(box);
    look();
    return () => observer.disconnect();
  }, [element]);
  return width;
}
