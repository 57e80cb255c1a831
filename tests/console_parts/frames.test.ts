// SPDX-License-Identifier: Apache-2.0
import { frames, readFrame, type Frame } from '../../ui/console/src/api/frames';

async function read(...chunks: string[]): Promise<Frame[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
  const found: Frame[] = [];
  for await (const frame of frames(body)) found.push(frame);
  return found;
}

test('an event has a name, an identifier and its lines of data', () => {
  expect(readFrame('event: change\nid: ab-12\ndata: {"a":\ndata: 1}')).toEqual({ event: 'change', id: 'ab-12', data: '{"a":\n1}' });
  expect(readFrame(': a comment\nretry: 1000')).toEqual({ event: 'message', id: '', data: '' });
});

test('events are read wherever the parts of the body end', async () => {
  const whole = 'event: reset\nid: a-1\ndata: {}\n\nevent: beat\ndata: {}\n\n';
  for (let cut = 0; cut <= whole.length; cut++) {
    const found = await read(whole.slice(0, cut), whole.slice(cut));
    expect(found.map(({ event, id }) => [event, id])).toEqual([['reset', 'a-1'], ['beat', '']]);
  }
});

test('an event that was cut off is no event', async () => {
  expect(await read('event: change\nid: a-2\nda')).toEqual([]);
});

test('an event without an end does not fill the memory', async () => {
  await expect(read('data: ', 'x'.repeat(2 ** 20))).rejects.toThrow('too long');
});
