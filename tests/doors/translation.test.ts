import { describe, expect, it } from 'vitest';
import type { Route } from '../../src/catalogue/route.js';
import { messagesDoor } from '../../src/doors/messages/messages-door.js';
import { anthropic } from '../../src/providers/dialects/anthropic/anthropic.js';
import { translationFor } from '../../src/providers/native-pass.js';
import { forSeeds, type SeededRandom } from '../support/seeded-random.js';

const target = { upstreamModel: 'claude-x', baseUrl: 'http://x', streamUsage: true, maxOutputTokens: null };
const route = { provider: { dialect: 'anthropic' }, baseUrl: 'http://x' } as Route;
const texts = ['plain', 'Grüße 😀', '"quoted" \\ \n', '字', '   x'];
const pick = <T>(random: SeededRandom, list: readonly T[]): T => list[Math.floor(random.next() * list.length)]!;
const maybe = (random: SeededRandom, value: object): object => (random.next() < 0.3 ? value : {});
const cached = { cache_control: { type: 'ephemeral' } };

const pixel = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
const text = (random: SeededRandom): object => ({ type: 'text', text: pick(random, texts), ...maybe(random, cached) });
const image = (random: SeededRandom): object => {
  const source = pick(random, [pixel, { type: 'url', url: 'https://images.example/é.png' }]);
  return { type: 'image', source, ...maybe(random, cached) };
};
const pdf = (random: SeededRandom): object => ({
  type: 'document',
  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
  ...maybe(random, { title: 'Zahlen é.pdf' }),
  ...maybe(random, cached),
});

/** Text alone in a list, without a marker, is the same as the text itself. */
function result(random: SeededRandom, id: string): object {
  const listed = [text(random), image(random)];
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: random.next() < 0.3 ? listed : pick(random, texts),
    ...maybe(random, cached),
  };
}

function thought(random: SeededRandom): object {
  if (random.next() < 0.3) return { type: 'redacted_thinking', data: 'b3BhcXVl' };
  return { type: 'thinking', thinking: pick(random, texts), signature: 'c2ln' };
}

const some = <T>(random: SeededRandom, chance: number, make: () => T): T[] => (random.next() < chance ? [make()] : []);

/** A conversation of blocks that both APIs can express, in the order in which chat messages keep them. */
function conversation(random: SeededRandom) {
  const messages: object[] = [];
  const rounds = 1 + Math.floor(random.next() * 3);
  let ids: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const results = ids.map((id) => result(random, id));
    const more = [...some(random, 0.3, () => image(random)), ...some(random, 0.2, () => pdf(random))];
    messages.push({ role: 'user', content: [...results, text(random), ...more] });
    if (round === rounds - 1) break;
    ids = Array.from({ length: 1 + Math.floor(random.next() * 2) }, (_, at) => `t${round}_${at}`);
    const calls = ids.map((id) => ({
      type: 'tool_use',
      id,
      name: 'clock',
      input: { tz: pick(random, texts), n: random.next() },
      ...maybe(random, cached),
    }));
    const said = some(random, 0.8, () => ({ type: 'text', text: pick(random, texts) }));
    messages.push({ role: 'assistant', content: [...some(random, 0.5, () => thought(random)), ...said, ...calls] });
  }
  const system = [{ type: 'text', text: 'One' }, text(random)];
  const choice = pick(random, [{ type: 'auto' }, { type: 'any' }, { type: 'none' }, { type: 'tool', name: 'clock' }]);
  return {
    model: 'm',
    max_tokens: 9,
    system: random.next() < 0.5 ? pick(random, texts) : system,
    messages,
    tools: [
      {
        name: 'clock',
        ...maybe(random, { description: 'é' }),
        input_schema: { type: 'object' },
        ...maybe(random, cached),
      },
    ],
    ...maybe(random, { tool_choice: choice }),
    ...maybe(random, { stop_sequences: ['END', 'é'] }),
    ...maybe(random, { temperature: 0.5 }),
    ...maybe(random, { top_k: 7 }),
    ...maybe(random, { metadata: { user_id: 'someone' } }),
  };
}

describe('messages to chat and back', () => {
  it('keeps every block that both can express', () => {
    forSeeds(1000, (random) => {
      const body = conversation(random);
      const escaped = random.next() < 0.3 ? JSON.stringify(body).replace('plain', 'pl\\u0061in') : JSON.stringify(body);
      const request = messagesDoor.readRequest(Buffer.from(escaped));
      const sent = anthropic.callOf(translationFor(request, route), target).body;
      const written = typeof sent === 'string' ? Buffer.from(sent, 'latin1').toString() : sent.toString();
      const { model: _, ...expected } = body;
      expect(JSON.parse(written)).toEqual({ ...expected, model: 'claude-x', stream: false });
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
