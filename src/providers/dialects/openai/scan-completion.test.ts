import { describe, expect, it } from 'vitest';
import { damaged } from '../../../../tests/support/damaged-bytes.js';
import { forSeeds, type SeededRandom } from '../../../../tests/support/seeded-random.js';
import { readAnswer } from '../../translation.js';
import { parseCompletion } from './completion.js';
import { scanCompletion } from './scan-completion.js';

const terms = { contextWindow: 8_192 };

/** The scan gives up on an answer, or gives what the parser gives. */
function expectAgreement(body: Buffer): boolean {
  const scanned = scanCompletion(body, terms);
  const parsed = parseCompletion(body, terms);
  if (scanned) expect({ kind: 'completion', parts: scanned }).toEqual(parsed);
  expect(withoutMadeIds(readAnswer(body, 'openai', terms))).toEqual(withoutMadeIds(parsed));
  return scanned !== null;
}

/** A call without an id gets a new one each time. */
const withoutMadeIds = (reading: unknown): unknown =>
  JSON.parse(JSON.stringify(reading).replace(/call_[0-9a-z]{26}/g, 'call_'));

const usage = '"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}';
const choice = (message: string, more = '"finish_reason":"stop"'): string =>
  `{"id":"c","object":"chat.completion","model":"m-1","choices":[{"index":0,"message":{${message}},${more}}],${usage}}`;
const plain = '"role":"assistant","content":"a \\"b\\" é"';
const call = '{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"a\\":1}"}}';

describe('the scan of a completion takes', () => {
  it.each([
    choice(plain),
    ` ${choice(`${plain} , "refusal" : null,"annotations":[]`, '"logprobs":null,"finish_reason":"length"')} `,
    choice(`"role":"assistant","content":null,"tool_calls":[${call},${call}]`, '"finish_reason":"tool_calls"'),
    choice(`${plain},"tool_calls":null,"function_call":null,"reasoning":null`),
    choice(plain).replace('}]', `},{"finish_reason":"stop","index":1,"message":{${plain}}}]`),
    choice(plain).replace(usage, `${usage},"system_fingerprint":"fp","service_tier":"default","router_metadata":{}`),
  ])('%s', (body) => expect(expectAgreement(Buffer.from(body))).toBe(true));
});

describe('the scan of a completion leaves to the parser', () => {
  it.each([
    '',
    '{}',
    choice(plain).slice(0, -1),
    choice(plain).replace(usage, '"usage":null'),
    choice(plain).replace(usage, '"usage":{}'),
    choice(plain).replace(usage, `${usage},${usage}`),
    choice(plain).replace(usage, `${usage},"error":{"message":"x"}`),
    choice(plain).replace('[{', '[').replace('}]', ']'),
    choice('"content":"x"'),
    choice('"role":"assistant"'),
    choice('"role":"assistant","content":[]'),
    choice(`${plain},"reasoning":"r"`),
    choice(`${plain},"content":"twice"`),
    choice(`${plain},"tool_calls":[${call.replace('"c"', '""')}]`),
    choice(`${plain},"tool_calls":[${call.replace('"{\\"a\\":1}"', '" "')}]`),
    choice(plain, '"finish_reason":"eos"'),
    choice(plain, '"finish_reason":null'),
    choice(plain).replace('"index":0', '"index":"0"'),
    choice(plain).replace('é', '\\u00e9'),
    choice(plain).replace('é', '\n'),
  ])('%s', (body) => expect(expectAgreement(Buffer.from(body))).toBe(false));
});

describe('scan and parser agree', () => {
  it('on generated answers, whole and damaged', () => {
    let taken = 0;
    forSeeds(4_000, (random) => {
      const body = Buffer.from(answerText(random));
      if (expectAgreement(body)) taken++;
      for (let round = 0; round < 4; round++) expectAgreement(damaged(random, body));
    });
    expect(taken).toBeGreaterThan(100);
  });
});

const odd = (random: SeededRandom, usual: readonly string[]): string =>
  random.chance(0.97)
    ? random.pick(usual)
    : random.pick(['null', '1', '"x"', '""', '[]', '{}', 'true', '-1.5e3', '"\\u0061"', '{"a":1,"a":2}']);

function answerText(random: SeededRandom): string {
  const message = [
    `"role":${odd(random, ['"assistant"'])}`,
    `"content":${odd(random, ['"x"', '""', 'null', '"\\n字"'])}`,
  ];
  if (random.chance(0.3)) message.push(`"tool_calls":${odd(random, [`[${call}]`, 'null', `[${call}, ${call}]`])}`);
  if (random.chance(0.2))
    message.push(`"${random.pick(['refusal', 'reasoning', 'audio', 'name', 'content'])}":${odd(random, ['null'])}`);
  const entry = [`"index":${odd(random, ['0', '1'])}`, `"message":{${message.join(random.pick([',', ' , ']))}}`];
  entry.push(`"finish_reason":${odd(random, ['"stop"', '"length"', '"tool_calls"', 'null', '"eos"'])}`);
  if (random.chance(0.3))
    entry.push(`"${random.pick(['logprobs', 'stop_reason', 'text', 'index'])}":${odd(random, ['null', '{"a":[]}'])}`);
  if (random.chance(0.3)) entry.reverse();
  const figures = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map(
    (name) => `"${name}":${odd(random, ['1', '20', '300'])}`,
  );
  const members = [
    `"choices":[{${entry.join(',')}}]`,
    `"usage":{${figures.join(',')}}`,
    `"model":${odd(random, ['"m"', '"é"'])}`,
  ];
  for (const name of ['id', 'object', 'created', 'system_fingerprint', 'service_tier', 'error', 'model', 'x']) {
    if (random.chance(0.15)) members.push(`"${name}":${odd(random, ['"x"', '1', 'null', '{"a":{"b":[1, 2]}}'])}`);
  }
  if (random.chance(0.5)) members.reverse();
  return `{${members.join(random.pick([',', ', ']))}}`;
}
