/** Large requests are translated off the main thread: they arrive complete, and no other request waits for them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scaled } from '../support/scaled.js';
import { threadTime } from '../support/thread-time.js';
import { anthropicFixture } from './anthropic.js';
import { figures } from './cases.js';
import { type DialectRig, pin, playWhole, startDialect } from './rig.js';

let rig: DialectRig;
beforeAll(async () => {
  rig = await startDialect(anthropicFixture);
});
afterAll(() => rig.stop());

describe('a large request in a dialect that is translated', () => {
  it('arrives word for word', async () => {
    const text = `Größe 大 ${'x'.repeat(1_000_000)} end`;
    rig.upstream.reply(playWhole(anthropicFixture, { text: ['Read.'], finish: 'stop', usage: figures() }));
    const reply = await rig.gateway.chat({ model: pin, messages: [{ role: 'user', content: text }] });
    expect(reply.status, reply.text.slice(0, 300)).toBe(200);
    const { messages } = rig.upstream.calls[0]!.json as { messages: { content: unknown }[] };
    expect(JSON.stringify(messages[0]!.content)).toContain(text);
  });

  it('is not translated on the main thread, which would stand still for seconds with 600,000 small parts', async () => {
    const count = scaled(150_000, 600_000);
    const parts = Array.from({ length: count }, (_, i) => ({ type: 'text', text: `part ${i}` }));
    rig.upstream.reply(playWhole(anthropicFixture, { text: ['Read.'], finish: 'stop', usage: figures() }));
    const body = JSON.stringify({ model: pin, messages: [{ role: 'user', content: parts }] });
    // What this thread ran in one go: on a busy machine it may also have stood still for want of a processor.
    let [last, longest] = [0, 0];
    const { key } = await rig.gateway.account();
    const watch = setInterval(() => {
      const { ranMs } = threadTime();
      longest = Math.max(longest, ranMs - last);
      last = ranMs;
    }, 5);
    last = threadTime().ranMs;
    const reply = await rig.gateway.call('POST', '/v1/chat/completions', body, { key });
    clearInterval(watch);
    expect(reply.status, reply.text.slice(0, 300)).toBe(200);
    // Reading and copying the bytes is all that is left to do here.
    expect(longest).toBeLessThan(count / 400);
  });
});
