// SPDX-License-Identifier: Apache-2.0
import { signal } from '@preact/signals';
import { durationText, timeText } from '../text/format';

/** The time by the second, while somebody looks. */
export const now = signal(Date.now());

setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1000);

/** A moment, in the zone of whoever looks; the exact one on demand. */
export function Time({ at }: { at: string | null | undefined }) {
  return at ? <time dateTime={at} title={at}>{timeText(at)}</time> : <span class="zero">–</span>;
}

/** How long ago a moment is, which goes on by itself. */
export function Since({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="zero">–</span>;
  return <time dateTime={at} title={timeText(at)}>{durationText((now.value - Date.parse(at)) / 1000)}</time>;
}
