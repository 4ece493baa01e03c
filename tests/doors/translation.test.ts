import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../../src/base/latin1.js';
import type { Route } from '../../src/catalogue/route.js';
import { messagesDoor } from '../../src/doors/messages/messages-door.js';
import { anthropic } from '../../src/providers/dialects/anthropic/anthropic.js';
import { translationFor } from '../../src/providers/native-pass.js';
import { SseReader } from '../../src/providers/transport/sse-frames.js';
import { forSeeds, type SeededRandom } from '../support/seeded-random.js';

const target = { upstreamModel: 'claude-x', baseUrl: 'http://x', streamUsage: true, maxOutputTokens: null };
const route = { provider: { dialect: 'anthropic' }, baseUrl: 'http://x' } as Route;
const texts = ['plain', 'Grüße 😀', '"quoted" \\ \n', '字', '   x'];
const pick = <T>(random: SeededRandom, list: readonly T[]): T => list[Math.floor(random.next() * list.length)]!;
const maybe = (random: SeededRandom, value: object): object => (random.next() < 0.3 ? value : {});
const cached = { cache_control: { type: 'ephemeral' } };

/** A conversation of blocks that both APIs can express, in the order in which chat messages keep them. */
function conversation(random: SeededRandom) {
  const messages: object[] = [];
  const rounds = 1 + Math.floor(random.next() * 3);
  for (let round = 0; round < rounds; round++) {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'aGk=' },
      ...maybe(random, cached),
    };
    const text = { type: 'text', text: pick(random, texts), ...maybe(random, cached) };
    const results =
      round === 0 ? [] : [{ type: 'tool_result', tool_use_id: `t${round - 1}`, content: pick(random, texts) }];
    messages.push({ role: 'user', content: [...results, text, ...(random.next() < 0.3 ? [image] : [])] });
    if (round === rounds - 1) break;
    const thinking = { type: 'thinking', thinking: pick(random, texts), signature: 'c2ln' };
    const call = {
      type: 'tool_use',
      id: `t${round}`,
      name: 'clock',
      input: { tz: pick(random, texts), n: random.next() },
    };
    const said = { type: 'text', text: pick(random, texts) };
    messages.push({ role: 'assistant', content: [...(random.next() < 0.5 ? [thinking] : []), said, call] });
  }
  return {
    model: 'm',
    max_tokens: 9,
    system: pick(random, texts),
    messages,
    tools: [{ name: 'clock', input_schema: { type: 'object' } }],
  };
}

describe('messages to chat and back', () => {
  it('keeps every block that both can express', () => {
    forSeeds(300, (random) => {
      const body = conversation(random);
      const escaped = random.next() < 0.3 ? JSON.stringify(body).replace('plain', 'pl\\u0061in') : JSON.stringify(body);
      const request = messagesDoor.readRequest(Buffer.from(escaped));
      const sent = anthropic.callOf(translationFor(request, route), target).body;
      const text = typeof sent === 'string' ? Buffer.from(sent, 'latin1').toString() : sent.toString();
      const { messages, system } = JSON.parse(text);
      expect({ messages, system }).toEqual({ messages: body.messages, system: body.system });
    });
  });

  it('a native body has every byte of the client but the model', () => {
    forSeeds(100, (random) => {
      const text = JSON.stringify(conversation(random), null, random.next() < 0.5 ? 1 : undefined);
      const { native } = messagesDoor.readRequest(Buffer.from(text));
      const { body, modelStart, modelEnd } = native!;
      const rebuilt = Buffer.from(`${body.slice(0, modelStart)}"m"${body.slice(modelEnd)}`, 'latin1').toString();
      expect(JSON.parse(rebuilt)).toEqual(JSON.parse(text));
      expect(rebuilt.replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
    });
  });
});

describe('the events of a translated stream', () => {
  const data = [
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":"Grü"},"finish_reason":null}]}',
    '[DONE]',
  ];
  it('are read the same wherever the bytes are split', () => {
    const bytes = Buffer.from(data.map((each) => `data: ${each}\n\n`).join(''));
    for (let at = 1; at < bytes.length; at++) {
      const seen: string[] = [];
      const reader = new SseReader({
        onFrame: (text, start, end) => seen.push(text.slice(start, end)),
        onOverflow: () => {},
      });
      reader.read(bytes.subarray(0, at));
      reader.read(bytes.subarray(at));
      expect(seen).toEqual(data.map((each) => asLatin1(Buffer.from(each).toString('latin1'))));
    }
  });
});
