// SPDX-License-Identifier: Apache-2.0
import { message, undoLast } from '../state/say';
import { plain } from '../text/plain';

/** The place of short messages, with a way back where there is one. */
export function Toast() {
  const now = message.value;
  return (
    <p id="toast" class="toast" role="status">
      {now ? plain(now.text) : null}
      {now?.undo ? <button type="button" class="more" onClick={undoLast}>Undo<kbd aria-hidden="true">u</kbd></button> : null}
    </p>
  );
}
