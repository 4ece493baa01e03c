/** Events of a provider that are broken, repeated or unnamed, at a native pass: none of them ends or damages a stream. */
import { describe, expect, it } from 'vitest';
import type { StreamReply } from '../support/client.js';
import { sse } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';
import { doorCases, nativeEventsOf } from './doors.js';

const bench = useDoors();

const garbage = [
  'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x',
  'event: response.in_progress\ndata: {"type":"response.in_progress","response":{"model":"x"',
  'event: message_start\ndata: {"type":"message_start","message":',
  'event: content_block_start\ndata: {"type":"content_block_start","index":7,',
  'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":9}',
  'event: response.completed\ndata: {"type":"response.completed","response":{',
  'event: response.output_item.added\ndata: {"output_index":3,"item":',
  'event: ping\ndata: [1,2',
  'data: nothing',
  'data: "text"',
  'data: []',
  'data: {}',
  'event: later.invention\ndata: {"type":"later.invention","value":[1]}',
];

const dataOf = ({ text }: StreamReply): string[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));

describe.each(doorCases.filter(({ name }) => name !== 'chat').map((door) => [door.name, door] as const))(
  '%s',
  (name, door) => {
    const events = nativeEventsOf(name, ['Hel', 'lo ', '😀']);
    const pin = name === 'messages' ? 'claude/acme/one/defra' : 'respond/acme/one/defra';
    const named = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`;
    const first = events.findIndex(({ type }) => /delta/.test(type)) + 1;
    const streamed = async (frames: readonly string[]) => {
      bench.native.enqueue(
        sse(
          frames.map((frame) => `${frame}\n\n`),
          { noDone: true },
        ),
      );
      const reply = await bench.gateway.stream(door.ask(pin), { path: door.path });
      expect(reply.status, reply.text).toBe(200);
      return reply;
    };

    it.each(garbage)('goes on after %j', async (odd) => {
      for (let at = first; at < events.length; at++) {
        const frames = events.map(named);
        const reply = await streamed([...frames.slice(0, at), odd, ...frames.slice(at)]);
        for (const data of dataOf(reply)) expect(() => JSON.parse(data), data).not.toThrow();
        expect(door.streamTextOf(reply)).toBe('Hello 😀');
        expect(door.expectEnd(reply)).toMatchObject({ end: 'complete', closed: true });
        if (odd.includes('later.invention')) expect(dataOf(reply)).toContain(odd.split('data: ')[1]);
      }
    });

    it('reads events without a name by their type, wherever that stands', async () => {
      const unnamed = events.map(({ type, ...rest }) => `data: ${JSON.stringify({ ...rest, type })}`);
      const reply = await streamed(unnamed);
      expect(door.streamTextOf(reply)).toBe('Hello 😀');
      expect(door.expectEnd(reply)).toMatchObject({ end: 'complete', closed: true });
    });
  },
);

it('messages: a second message_start passes, with the id of the route as its model', async () => {
  const events = nativeEventsOf('messages', ['Hel', 'lo']).map((event) => JSON.stringify(event));
  const again = events[0]!.replace('msg_1', 'msg_2');
  for (const at of [1, 3]) {
    const frames = [...events.slice(0, at), again, ...events.slice(at)];
    bench.native.enqueue(
      sse(
        frames.map((data) => `data: ${data}\n\n`),
        { noDone: true },
      ),
    );
    const reply = await bench.gateway.stream(
      { model: 'claude/acme/one/defra', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
      { path: '/v1/messages' },
    );
    const expected = again.replace('"upstream-model"', '"claude/acme/one/defra"');
    expect(dataOf(reply)[at]).toBe(expected);
  }
});
