import { describe, expect, it } from 'vitest';
import { estimatePromptTokens } from '../../pipeline/validate.js';
import { parseRequest, readRequest, scanRequest } from './read-request.js';

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
    `${usual},"prompt_cache_key":"${'k'.repeat(1_025)}"}`,
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
