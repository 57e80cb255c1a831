// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { Refusal } from '../api/client';
import { plain } from '../text/plain';

/** A button that asks the server for something, and says what is wrong beside it. */
export function ActionRow({ text, hint, act, tone = '' }: { text: string; hint: string; act: () => Promise<void> | void; tone?: string }) {
  const [error, setError] = useState('');
  const [isBusy, setBusy] = useState(false);
  const onClick = async (): Promise<void> => {
    setBusy(true);
    setError('');
    try {
      await act();
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      setError(plain(refusal.message));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="action-row">
      <button type="button" class={`button ${tone}`} disabled={isBusy} onClick={onClick}>{text}</button>
      <span class="hint">{hint}</span>
      <span class="error" role="alert" hidden={!error}>{error}</span>
    </div>
  );
}
