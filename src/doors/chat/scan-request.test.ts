import { describe, expect, it } from 'vitest';
import { damaged } from '../../../tests/support/damaged-bytes.js';
import { forSeeds, type SeededRandom } from '../../../tests/support/seeded-random.js';
import { estimatePromptTokens } from '../../pipeline/validate.js';
import { parseRequest, readRequest } from './read-request.js';
import { scanRequest } from './scan-request.js';

const outcomeOf = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return { refused: (error as Error).message };
  }
};

/** The scan gives up on a body, or gives what the parser gives. */
function expectAgreement(body: Buffer): boolean {
  const scanned = scanRequest(body);
  const parsed = outcomeOf(() => parseRequest(body));
  if (scanned) {
    expect(scanned).toEqual(parsed);
    expect(estimatePromptTokens(scanned)).toBe(estimatePromptTokens(parseRequest(body)));
  }
  expect(outcomeOf(() => readRequest(body))).toEqual(parsed);
  return scanned !== null;
}

const usual = '{"model":"a/b/c","messages":[{"role":"user","content":"hi"}]';

describe('the scan of a request takes', () => {
  it.each([
    `${usual}}`,
    ` ${usual} , "temperature" : 0.7 , "stream" : true } `,
    `${usual},"stream":false,"max_tokens":5,"top_p":1,"n":1,"stop":["a","b"],"logprobs":false,"seed":1}`,
    `${usual},"n":2,"logprobs":true,"stop":"x","frequency_penalty":-2,"presence_penalty":2e0}`,
    `${usual},"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}`,
    `${usual},"tools":[{"type":"function","function":{"name":"f","parameters":{"a":[],"b":{}}}}],"user":"é字😀"}`,
    '{"messages":[{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"\\"\\\\\\n"}]}],"model":"a/b/é"}',
    '{"messages":[{"role":"assistant","content":null,"tool_calls":[],"name":"n","refusal":null},{"role":"user","content":"a"}],"model":"a/b/c"}',
  ])('%s', (body) => expect(expectAgreement(Buffer.from(body))).toBe(true));

  it('a long prompt, of which it finds each damaged byte', () => {
    const text = 'lorem ipsum "dolor\\ sit\n'.repeat(2_000);
    const body = Buffer.from(JSON.stringify({ model: 'a/b/c', messages: [{ role: 'user', content: text }] }));
    expect(expectAgreement(body)).toBe(true);
    for (const at of [100, 16_383, 16_384, 16_385, 40_000, body.length - 9]) {
      for (const byte of [0, 0x0a, 0x1f, 0x80, 0xff]) {
        const damaged = Buffer.from(body);
        damaged[at] = byte;
        expect(expectAgreement(damaged)).toBe(false);
      }
    }
  });
});

describe('the scan of a request leaves to the parser', () => {
  it.each([
    '',
    '[]',
    '{}',
    '\ufeff{}',
    `\ufeff${usual}}`,
    `${usual}`,
    `${usual},}`,
    `${usual}}x`,
    `${usual},"model":"d/e/f"}`,
    `${usual},"x":1,"x":2}`,
    `${usual},"stre\\u0061m":true}`,
    `${usual},"a\\nb":true}`,
    `${usual},"temperature":null}`,
    `${usual},"temperature":2.1}`,
    `${usual},"temperature":01}`,
    `${usual},"temperature":.5}`,
    `${usual},"temperature":+1}`,
    `${usual},"temperature":1e}`,
    `${usual},"max_tokens":1e999}`,
    `${usual},"max_tokens":1.5}`,
    `${usual},"stop":["1","2","3","4","5"]}`,
    `${usual},"stream":null}`,
    `${usual},"response_format":{"type":"json_object"}}`,
    `${usual},"fallback":{"models":["x/y/z"]}}`,
    `${usual},"x":"\\u00e9"}`,
    `${usual},"x":"\\x"}`,
    `${usual},"x":"a\tb"}`,
    `${usual},"x":${'['.repeat(128)}${']'.repeat(128)}}`,
    '{"model":"","messages":[{"role":"user"}]}',
    '{"model":"a/b/c","messages":[]}',
    '{"model":"a/b/c","messages":[{}]}',
    '{"model":"a/b/c","messages":[{"role":"tool","content":"x"}]}',
    '{"model":"a/b/c","messages":[{"role":"tool","tool_call_id":""}]}',
    '{"model":"a/b/c","messages":[{"role":"user","role":"system"}]}',
    '{"model":"a/b/c","messages":[{"role":"user","content":{}}]}',
    '{"model":"a/b/c","messages":[{"role":"assistant","reasoning":"r","reasoning_content":"r"}]}',
  ])('%s', (body) => expect(expectAgreement(Buffer.from(body))).toBe(false));
});

describe('scan and parser agree', () => {
  it('on generated requests, whole and damaged', () => {
    let taken = 0;
    forSeeds(6_000, (random) => {
      const body = Buffer.from(requestText(random));
      if (expectAgreement(body)) taken++;
      for (let round = 0; round < 4; round++) expectAgreement(damaged(random, body));
    });
    expect(taken).toBeGreaterThan(20);
  });
});

const pieces = [
  'a',
  ' ',
  '\\n',
  '\\"',
  '\\\\',
  '\\/',
  'é',
  '字',
  '😀',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\u00e9',
  '\t',
  '0',
];
const numbers = ['0', '-0', '1', '2', '0.5', '1e0', '1E+2', '-1', '3', '1.5', '10', '9007199254740993', '1e400'];
const names = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'presence_penalty',
  'max_tokens',
]
  .concat(['max_completion_tokens', 'n', 'stop', 'logprobs', 'response_format', 'logit_bias', 'fallback', 'tools'])
  .concat(['user', 'seed', '1', '__proto__', 'constructor']);

function requestText(random: SeededRandom): string {
  const members = [`"model":${random.chance(0.95) ? '"a/b/c"' : valueText(random, 1)}`];
  members.push(`"messages":${random.chance(0.95) ? messagesText(random) : valueText(random, 3)}`);
  for (let left = random.below(4); left > 0; left--) members.push(memberText(random, random.pick(names)));
  if (random.chance(0.5)) members.reverse();
  return `${space(random)}{${members.join(`${space(random)},${space(random)}`)}${space(random)}}${space(random)}`;
}

const space = (random: SeededRandom): string => (random.chance(0.01) ? '\n' : random.pick(['', '', ' ', '  ']));

function messagesText(random: SeededRandom): string {
  const messages: string[] = [];
  for (let left = 1 + random.below(3); left > 0; left--) {
    const role = random.pick([
      'user',
      'assistant',
      'system',
      'tool',
      'developer',
      random.chance(0.1) ? 'other' : 'user',
    ]);
    const members = [`"role":"${role}"`, `"content":${random.chance(0.8) ? stringText(random) : valueText(random, 2)}`];
    const more = random.pick([
      'name',
      'tool_call_id',
      'tool_calls',
      'reasoning',
      'reasoning_content',
      'refusal',
      'role',
    ]);
    if (random.chance(0.4)) members.push(`${space(random)}"${more}"${space(random)}:${valueText(random, 2)}`);
    messages.push(`{${members.join(',')}}`);
  }
  return `[${messages.join(',')}]`;
}

function memberText(random: SeededRandom, name: string): string {
  const fitting: Record<string, readonly string[]> = {
    stream: ['true', 'false', 'null'],
    logprobs: ['true', 'false', 'null'],
    n: ['1', '2', '0'],
    stop: ['"x"', '[]', '["a","b"]', '["a",1]', '["","","","",""]', 'null'],
    stream_options: ['{"include_usage":true}', '{"include_usage":false,"x":1}', '{}', 'null', '{"a":1,"a":2}'],
  };
  const text = fitting[name] && random.chance(0.8) ? random.pick(fitting[name]) : valueText(random, 3);
  return `"${name}"${space(random)}:${space(random)}${text}`;
}

function valueText(random: SeededRandom, depth: number): string {
  const kind = random.below(depth > 0 ? 6 : 4);
  if (kind === 0) return stringText(random);
  if (kind === 1) return random.pick(['true', 'false', 'null']);
  if (kind < 4) return random.pick(numbers);
  const entries: string[] = [];
  for (let left = random.below(3); left > 0; left--) {
    const value = valueText(random, depth - 1);
    entries.push(kind === 4 ? value : `${random.pick(['"a"', '"b"', '"type"', '"\\n"'])}:${value}`);
  }
  return kind === 4 ? `[${entries.join(', ')}]` : `{${entries.join(',')}}`;
}

function stringText(random: SeededRandom): string {
  return `"${random.textOf(random.chance(0.9) ? pieces.slice(0, 9) : pieces, 8)}"`;
}
