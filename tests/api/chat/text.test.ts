import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { completion, json, oneByteAtATime, sse, streamOf } from '../../support/scripted-upstream.js';
import { ask, useGateway } from '../harness.js';

const bench = useGateway();

const texts = [
  'Grüße, Zoë, naïve café',
  '日本語と中文と한국어',
  '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇩🇪 e\u0301',
  'ע ب \u202e mixed \u2028 separators \u2029',
  'quotes " backslash \\ slash / tab \t newline \n control \u0001 del \u007f',
  'latin1 look-alike: Ã© Â£ \u00ff \u0080 \ufeff',
];

/** Every character beyond ASCII as a \u escape. */
const escaped = (text: string): string =>
  JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const promptOf = (call: { json: unknown }): unknown =>
  ((call.json as Json).messages as { content: unknown }[])[0]!.content;

describe('text goes through unharmed, both ways', () => {
  it.each(texts)('a prompt %j reaches the upstream, and an answer the caller', async (text) => {
    const { gateway, upstream } = bench;
    upstream.reply(json(completion({ content: text })));
    const reply = await gateway.chat(ask({ messages: [{ role: 'user', content: text }] }));
    expect(promptOf(upstream.calls[0]!)).toBe(text);
    expect(reply.json.choices[0].message.content).toBe(text);
  });

  it.each(texts)('so do \\u escapes of %j', async (text) => {
    const { gateway, upstream } = bench;
    upstream.reply(json(JSON.stringify(completion({ content: 'PLACE' })).replace('"PLACE"', escaped(text))));
    const body = JSON.stringify(ask({ messages: [{ role: 'user', content: 'PLACE' }] })).replace(
      '"PLACE"',
      escaped(text),
    );
    const reply = await gateway.chat(body);
    expect(promptOf(upstream.calls[0]!)).toBe(text);
    expect(reply.json.choices[0].message.content).toBe(text);
  });

  it('escapes and plain characters may stand in one body, in either direction', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(
      json('{"choices":[{"index":0,"message":{"role":"assistant","content":"\\u00e9é\\ud83d\\ude00😀"}}]}'),
    );
    const reply = await gateway.chat(
      '{"model":"acme/meta/llama","messages":[{"role":"user","content":"\\u00fcü\\u5b57字"}]}',
    );
    expect(promptOf(upstream.calls[0]!)).toBe('üü字字');
    expect(reply.json.choices[0].message.content).toBe('éé😀😀');
  });

  it('a lone surrogate does not fail the request', async () => {
    const reply = await bench.gateway.chat(
      '{"model":"acme/meta/llama","messages":[{"role":"user","content":"\\ud800"}]}',
    );
    expect(reply.status).toBe(200);
  });

  it('a body with a byte order mark is read as if it had none', async () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(ask()))]);
    expect((await bench.gateway.chat(body)).status).toBe(200);
  });

  it.each([
    ['a prompt of 300 KB, which is read on a thread of its own', 300 * 1024],
    ['a prompt of 3 MB', 3 * 1024 * 1024],
  ])('%s arrives byte for byte', async (_, bytes) => {
    const { gateway, upstream } = bench;
    const text = 'ä字😀 x'.repeat(bytes / 12);
    upstream.reply(json(completion({ content: text })));
    const reply = await gateway.chat(ask({ messages: [{ role: 'user', content: text }] }));
    expect(reply.status, reply.text.slice(0, 300)).toBe(200);
    expect(promptOf(upstream.calls[0]!) === text).toBe(true);
    expect(reply.json.choices[0].message.content === text).toBe(true);
  });
});

describe('text of a stream goes through unharmed', () => {
  const pieces = ['Grüße ', '日本', '語 ', '👩‍👩‍👧', '‍👦', ' "\\\n\t', '\u2028', 'end'];

  it('frame by frame', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(sse(streamOf(pieces)));
    expect((await gateway.stream(ask())).content).toBe(pieces.join(''));
  });

  it('with every byte in a packet of its own', async () => {
    const { gateway, upstream } = bench;
    upstream.reply(oneByteAtATime(sse(streamOf(pieces))));
    const reply = await gateway.stream(ask());
    expect(reply.content).toBe(pieces.join(''));
    expect([reply.done, reply.remainder]).toEqual([true, '']);
  });

  it('with \\u escapes, alone and beside plain characters', async () => {
    const { gateway, upstream } = bench;
    const frame = (content: string) =>
      `data: {"id":"x","model":"upstream-model","choices":[{"index":0,"delta":{"content":${content}}}]}\n\n`;
    upstream.reply(sse(['"\\u00e9"', '"é"', '"\\ud83d\\ude00"', '"😀\\u5b57字"', '"plain"'].map(frame)));
    expect((await gateway.stream(ask())).content).toBe('éé😀😀字字plain');
  });
});
