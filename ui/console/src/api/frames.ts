// SPDX-License-Identifier: Apache-2.0

/** One event of a stream of server-sent events. */
export interface Frame {
  event: string;
  id: string;
  data: string;
}

const FRAME_MAX = 1 << 20;

/** The fields of one event, of which the lines of `data` are put together. */
export function readFrame(text: string): Frame {
  const frame: Frame = { event: 'message', id: '', data: '' };
  const data: string[] = [];
  for (const line of text.split('\n')) {
    const [, name, value] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
    if (name === 'data') data.push(value!);
    else if (name === 'event') frame.event = value!;
    else if (name === 'id') frame.id = value!;
  }
  frame.data = data.join('\n');
  return frame;
}

/** The events of a body, as they come. */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const parts = rest.split('\n\n');
      rest = parts.pop()!;
      if (rest.length > FRAME_MAX) throw new Error('an event is too long');
      for (const part of parts) if (part.trim()) yield readFrame(part);
    }
  } finally {
    reader.releaseLock();
  }
}
