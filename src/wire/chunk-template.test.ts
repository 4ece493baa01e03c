import { describe, expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../tests/support/seeded-random.js';
import { asLatin1 } from '../base/latin1.js';
import { type Chunk, parseChunk } from './chunk.js';
import { ChunkTemplate } from './chunk-template.js';

const identity = { id: 'gen-1', created: 7, model: 'acme/meta/llama/defra', includeUsage: false };
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

/** A frame as upstreams write it; `content` is JSON text without its quotes. */
function frame(content: string, { before = '', after = '', finish = 'null', tail = '' } = {}): string {
  return latin1(
    `{"id":"chatcmpl-é","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{${before}"content":"${content}"${after}},"logprobs":null,"finish_reason":${finish}}]${tail}}`,
  );
}

const readAsUtf8 = (data: string): Chunk => JSON.parse(Buffer.from(data, 'latin1').toString('utf8')) as Chunk;

/** What the caller must get for a frame: the same chunk under our identity. */
function expected(data: string): Chunk {
  const { usage, router_metadata, x_groq, ...kept } = readAsUtf8(data);
  const { id, created, model } = identity;
  return { ...kept, id, created, model, object: 'chat.completion.chunk' };
}

const contents = [
  'a',
  ' ',
  'é',
  '字',
  '😀',
  '\\n',
  '\\t',
  '\\"',
  '\\\\',
  '\\/',
  '\\u00e9',
  '\\ud83d\\ude00',
  '\\ud83d',
  '"',
  '\\',
  '{',
  '}',
  ',',
  '\\"finish_reason\\":\\"stop\\"',
  '"finish_reason":"stop"',
  '\n',
  '\t',
  '\u0000',
  '\\x',
  '\\u12',
  '","content":"',
];
const tails = ['', ',"usage":null', ',"system_fingerprint":"fp_é"', ',"x_extra":{"content":"no"}'];

function learnt(random: SeededRandom): { template: ChunkTemplate; options: object } | null {
  const includeUsage = random.chance(0.5);
  const options = { before: random.pick(['', '"role":"assistant",']), tail: random.pick(tails) };
  const template = ChunkTemplate.learn(asLatin1(frame('first', options)), { ...identity, includeUsage });
  return template && { template, options };
}

describe('a chunk template', () => {
  it.each([
    ['a piece without text', '[{"index":0,"id":"call_1","type":"function","function":{"arguments":""}}]'],
    ['a piece that is not in a list', '{"index":0,"function":{"arguments":""}}'],
  ])(
    'is not learnt from a frame with %s of a tool call, because what it becomes depends on earlier pieces',
    (_, piece) => {
      const calls = (list: string): string => frame('', { after: `,"tool_calls":${list}` });
      expect(ChunkTemplate.learn(asLatin1(calls(piece)), identity)).toBeNull();
      expect(ChunkTemplate.learn(asLatin1(calls('[]')), identity)).not.toBeNull();
      expect(ChunkTemplate.learn(asLatin1(calls('null')), identity)).not.toBeNull();
    },
  );

  it('writes what parsing and writing would have written, for every frame that it accepts', () => {
    let accepted = 0;
    let refused = 0;
    forSeeds(3_000, (random) => {
      const given = learnt(random);
      expect(given).not.toBeNull();
      const { template, options } = given!;
      const data = frame(random.textOf(contents, 6), random.chance(0.9) ? options : {});
      const text = `xx${data}yy`;
      const inside = template.textIn(asLatin1(text), 2, 2 + data.length);
      if (inside === null) {
        refused++;
        return;
      }
      accepted++;
      const out = template.write(inside);
      expect(out).toMatch(/^data: [^\n]*\n\n$/);
      expect(readAsUtf8(out.slice(6))).toEqual(expected(data));
    });
    expect(accepted).toBeGreaterThan(75);
    expect(refused).toBeGreaterThan(75);
  });

  it.each([
    'plain',
    'Grüße 字 😀',
    '\\"quoted\\"',
    'back\\\\slash',
    'line\\nbreak',
    '\\u00e9',
    '\\ud83d\\ude00',
    '',
    'says \\"finish_reason\\":\\"stop\\"',
  ])('accepts the content %s', (content) => {
    const template = ChunkTemplate.learn(asLatin1(frame('first')), identity)!;
    const data = frame(content);
    expect(template.textIn(asLatin1(data), 0, data.length)).toBe(latin1(content));
  });

  it.each([
    ['a finish reason', frame('x', { finish: '"stop"' })],
    ['usage', frame('x', { tail: ',"usage":{"prompt_tokens":1,"completion_tokens":1}' })],
    ['usage in x_groq', frame('x', { tail: ',"x_groq":{"usage":{"prompt_tokens":1}}' })],
    ['tool calls', frame('x', { after: ',"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]' })],
    ['reasoning', frame('x', { before: '"reasoning_content":"hm",' })],
    ['a refusal', frame('x', { after: ',"refusal":"no"' })],
    ['no content', latin1('{"choices":[{"index":0,"delta":{"tool_calls":[]},"finish_reason":null}]}')],
    ['null content', latin1('{"choices":[{"index":0,"delta":{"content":null},"finish_reason":null}]}')],
    ['two choices', latin1('{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}')],
    ['content elsewhere', latin1('{"note":{"content":"a"},"choices":[{"delta":{"content":"b"}}]}')],
    ['a second content that wins', frame('x', { after: ',"content":"y"' })],
    ['an escaped member outside of the content', frame('x', { tail: ',"fp":"\\u00e9"' })],
    ['text that is no JSON', '{"choices":[{"delta":{"content":"a"'],
  ])('is neither learnt from nor accepts a frame with %s', (_, data) => {
    expect(ChunkTemplate.learn(asLatin1(data), identity)).toBeNull();
    const template = ChunkTemplate.learn(asLatin1(frame('first')), identity)!;
    expect(template.textIn(asLatin1(data), 0, data.length)).toBeNull();
  });

  it.each([
    ['a raw line break, which would end the frame', 'a\n\ndata: b'],
    ['a raw control character', 'a\u0001b'],
    ['an open escape at its end', 'a\\'],
    ['a quote that closes it early', 'a","x":"b'],
    ['an unknown escape', '\\x41'],
    ['a short escape', '\\u00e'],
  ])('refuses content with %s', (_, content) => {
    const template = ChunkTemplate.learn(asLatin1(frame('first')), identity)!;
    const data = frame(content);
    expect(template.textIn(asLatin1(data), 0, data.length)).toBeNull();
  });

  it.each(['reasoning_content', 'reasoning'])('learns reasoning under %s, and writes it under both names', (name) => {
    const of = (text: string) => frame('', { after: `,"${name}":"${text}"` });
    const template = ChunkTemplate.learn(asLatin1(of('first')), identity)!;
    const data = of('Grüße \\n 字');
    const inside = template.textIn(asLatin1(data), 0, data.length)!;
    const { delta } = readAsUtf8(template.write(inside).slice(6)).choices![0]!;
    expect(delta).toEqual({ content: '', reasoning_content: 'Grüße \n 字', reasoning: 'Grüße \n 字' });
    const content = frame('x', { after: `,"${name}":""` });
    expect(template.textIn(asLatin1(content), 0, content.length)).toBeNull();
  });

  it('writes metadata into the frame where it is given', () => {
    const template = ChunkTemplate.learn(asLatin1(frame('first')), identity)!;
    const out = readAsUtf8(template.write(asLatin1('x'), '{"provider":"acme"}').slice(6));
    expect(out).toEqual({ ...expected(frame('x')), router_metadata: { provider: 'acme' } });
  });

  it('throws on no frame, however large', () => {
    const template = ChunkTemplate.learn(asLatin1(frame('first')), identity)!;
    for (const content of ['x'.repeat(15_000_000), `${'x'.repeat(15_000_000)}\\n`, '\\u0041'.repeat(2_500_000)]) {
      const data = frame(content);
      const inside = template.textIn(asLatin1(data), 0, data.length);
      expect(inside === null || inside === content).toBe(true);
    }
  });

  it('refuses a frame whose beginning and end overlap', () => {
    const template = ChunkTemplate.learn(asLatin1(frame('first')), identity)!;
    const short = frame('').slice(0, -1);
    expect(template.textIn(asLatin1(short), 0, short.length)).toBeNull();
    expect(template.textIn(asLatin1(''), 0, 0)).toBeNull();
  });

  it('agrees with the plain way on what is a chunk', () => {
    const data = frame('x');
    expect(parseChunk(asLatin1(data))).toEqual(JSON.parse(data));
  });
});
