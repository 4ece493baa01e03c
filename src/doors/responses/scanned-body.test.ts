import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../wire/chat-request.js';
import { plainRequest } from '../translated-request.js';
import { parseResponsesRequest, readResponsesRequest, scanResponsesRequest } from './read-request.js';

/** The request with its translation, or why it is refused. */
const outcomeOf = (read: () => ChatRequest): unknown => {
  try {
    return plainRequest(read());
  } catch (error) {
    return { refused: (error as Error).message };
  }
};

/** Whatever is scanned is what the parser gives. Returns whether it was scanned. */
function expectAgreement(body: Buffer): boolean {
  const parsed = outcomeOf(() => parseResponsesRequest(body));
  const scanned = scanResponsesRequest(body) !== null;
  if (scanned) expect(parsed).not.toHaveProperty('refused');
  expect(outcomeOf(() => readResponsesRequest(body))).toEqual(parsed);
  return scanned;
}

const input = '"model":"a/b/c","input":"hi é"';
const withItems = (...items: string[]): string => `{"model":"a/b/c","input":[${items.join(',')}]}`;

describe('the scan of a Responses request takes', () => {
  it.each([
    `{${input}}`,
    ` { ${input} , "store" : false , "stream" : true } `,
    `{"instructions":"be brief",${input},"max_output_tokens":5,"temperature":2,"top_p":0,"parallel_tool_calls":true}`,
    `{${input},"background":false,"metadata":{"a":"b"},"service_tier":"auto","truncation":"auto","user":"u"}`,
    `{${input},"reasoning":{"effort":"low","summary":"auto"},"text":{"verbosity":"low"},"max_tool_calls":1}`,
    `{${input},"prompt_cache_key":"k","include":["reasoning.encrypted_content","x"],"safety_identifier":"s","x":null}`,
    `{${input},"tools":[{"type":"function","name":"f","parameters":{}},{"type":"custom"}],"tool_choice":"required"}`,
    `{${input},"tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","name":"f"}}`,
    withItems('{"role":"user","content":"a"}', '{"type":"message","role":"developer","content":"a","id":"i"}'),
    withItems('{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u"}]}'),
    withItems('{"role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"r"}]}'),
    withItems('{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}'),
    withItems('{"type":"function_call_output","call_id":"c","output":"o"}', '{"type":"reasoning","summary":[]}'),
  ])('%s', (body) => expect(expectAgreement(Buffer.from(body))).toBe(true));
});

describe('the scan of a Responses request leaves to the parser', () => {
  it.each([
    '',
    '{}',
    `{${input}`,
    `{${input},"input":"x"}`,
    `{${input},"store":true}`,
    `{${input},"store":null}`,
    `{${input},"background":true}`,
    `{${input},"previous_response_id":"r"}`,
    `{${input},"conversation":"c"}`,
    `{${input},"max_output_tokens":0}`,
    `{${input},"temperature":2.1}`,
    `{${input},"parallel_tool_calls":1}`,
    `{${input},"instructions":["a"]}`,
    `{${input},"metadata":[]}`,
    `{${input},"service_tier":"flex"}`,
    `{${input},"truncation":1}`,
    `{${input},"prompt_cache_key":""}`,
    `{${input},"prompt_cache_key":"é"}`,
    `{${input},"prompt_cache_key":"${'k'.repeat(1_025)}"}`,
    `{${input},"reasoning":{"effort":1}}`,
    `{${input},"text":{"format":{"type":"json_object"}}}`,
    `{${input},"include":[1]}`,
    `{${input},"max_tool_calls":0}`,
    `{${input},"tools":[{"type":"web_search"}]}`,
    `{${input},"tools":[{"type":"function"}]}`,
    `{${input},"tools":[{"type":"function","name":"f","parameters":[]}]}`,
    `{${input},"tool_choice":{"type":"function"}}`,
    `{${input},"tool_choice":1}`,
    `{${input},"session_id":"s"}`,
    `{"model":"a/b/c","input":[]}`,
    `{"model":"a/b/c","input":1}`,
    `{"model":"a/b/c","messages":[]}`,
    withItems('{}'),
    withItems('"a"'),
    withItems('{"id":"i"}'),
    withItems('{"type":"item_reference","id":"i"}'),
    withItems('{"role":"tool","content":"a"}'),
    withItems('{"role":"user"}'),
    withItems('{"role":"user","content":[{"text":"a"}]}'),
    withItems('{"role":"user","content":[{"type":"input_text"}]}'),
    withItems('{"role":"user","content":[{"type":"input_image"}]}'),
    withItems('{"type":"function_call","call_id":"c","arguments":"{}"}'),
    withItems('{"type":"function_call_output","call_id":"c"}'),
  ])('%s', (body) => expect(expectAgreement(Buffer.from(body))).toBe(false));
});
