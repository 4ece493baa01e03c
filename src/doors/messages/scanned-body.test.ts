import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../wire/chat-request.js';
import { plainRequest } from '../translated-request.js';
import { parseMessagesRequest, readMessagesRequest, scanMessagesRequest } from './read-request.js';

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
  const parsed = outcomeOf(() => parseMessagesRequest(body, false, true));
  const scanned = scanMessagesRequest(body, true) !== null;
  if (scanned) expect(parsed).not.toHaveProperty('refused');
  expect(outcomeOf(() => readMessagesRequest(body))).toEqual(parsed);
  return scanned;
}

const message = '"model":"a/b/c","max_tokens":5,"messages":[{"role":"user","content":"hi é"}]';
const withBlocks = (...blocks: string[]): string =>
  `{"model":"a/b/c","max_tokens":5,"messages":[{"role":"user","content":[${blocks.join(',')}]}]}`;

describe('the scan of a Messages request takes', () => {
  it.each([
    `{${message}}`,
    ` { ${message} , "temperature" : 1 , "top_p":0.5,"top_k":40,"stream" : true } `,
    `{"system":"be brief",${message},"stop_sequences":["a"],"service_tier":"auto","context_management":{"edits":[]}}`,
    `{${message},"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"unknown":null}`,
    `{${message},"tools":[{"name":"f","description":"d","input_schema":{"type":"object"},"cache_control":null}]}`,
    `{${message},"tools":[{"type":"custom","name":"f","input_schema":{}}],"tool_choice":{"type":"tool","name":"f"}}`,
    `{${message},"thinking":{"type":"enabled","budget_tokens":3},"metadata":{"user_id":"u"},"tool_choice":{"type":"any"}}`,
    `{${message},"output_config":{"effort":"low"},"thinking":{"type":"adaptive","display":"omitted"}}`,
    withBlocks('{"type":"text","text":"a \\"b\\" \\n"}', '{"type":"image","source":{"type":"url","url":"u"}}'),
    withBlocks('{"type":"document","title":"t","source":{"type":"base64","media_type":"m","data":"d"}}'),
    withBlocks('{"type":"tool_use","id":"i","name":"n","input":{"a":[1]}}', '{"type":"redacted_thinking","data":"d"}'),
    withBlocks('{"type":"tool_result","tool_use_id":"i","is_error":true,"content":[{"type":"text","text":"a"}]}'),
    withBlocks('{"type":"tool_result","tool_use_id":"i","content":"a"}', '{"type":"thinking","thinking":"t"}'),
  ])('%s', (body) => expect(expectAgreement(Buffer.from(body))).toBe(true));
});

describe('the scan of a Messages request leaves to the parser', () => {
  it.each([
    '',
    '{}',
    `{${message}`,
    `{${message}}x`,
    `{${message},${message}}`,
    `{${message},"x":1,"x":1}`,
    `{${message},"x":"\\u00e9"}`,
    `{${message},"x":"a\nb"}`,
    `{${message},\n"x":"b"}`,
    `{${message.replace('"max_tokens":5,', '')}}`,
    `{${message.replace('5', '0')}}`,
    `{${message.replace('5', '1.5')}}`,
    `{${message.replace('5', 'null')}}`,
    `{${message.replace('a/b/c', '')}}`,
    `{${message.replace('"user"', '"tool"')}}`,
    `{${message.replace('"role":"user",', '')}}`,
    `{${message.replace('"hi é"', '[]')}}`,
    `{${message.replace('"hi é"', 'null')}}`,
    `{${message.replace('{"role":"user","content":"hi é"}', '')}}`,
    `{${message},"temperature":1.1}`,
    `{${message},"temperature":null}`,
    `{${message},"stream":1}`,
    `{${message},"system":1}`,
    `{${message},"system":[]}`,
    `{${message},"metadata":{"user_id":1}}`,
    `{${message},"thinking":{"type":1}}`,
    `{${message},"output_config":{"format":{"type":"json_schema","schema":{}}}}`,
    `{${message},"output_config":{"effort":1}}`,
    `{${message},"tool_choice":{"type":"tool"}}`,
    `{${message},"tool_choice":{}}`,
    `{${message},"tools":[{"type":"web_search_20250305","name":"web_search"}]}`,
    `{${message},"tools":[{"name":"","input_schema":{}}]}`,
    `{${message},"tools":[{"name":"f"}]}`,
    `{${message},"tools":[1]}`,
    `{${message},"service_tier":"flex"}`,
    `{${message},"speed":"fast"}`,
    `{${message},"fallback":{"models":["x/y/z"]}}`,
    `{${message},"fallbacks":[{"model":"x"}]}`,
    `{${message},"provider":{"only":["x"]}}`,
    `{${message},"session_id":"s"}`,
    `{${message},"prompt_cache_key":"s"}`,
    `{${message},"x":${'['.repeat(128)}${']'.repeat(128)}}`,
    withBlocks('{"type":"text"}'),
    withBlocks('{"type":"text","text":1}'),
    withBlocks('{"text":"a"}'),
    withBlocks('{"type":"text","text":"a","text":1}'),
    withBlocks('{"type":"tool_use","id":"i","input":{}}'),
    withBlocks('{"type":"tool_use","id":"i","name":"n","input":[]}'),
    withBlocks('{"type":"tool_result","content":"a"}'),
    withBlocks('{"type":"tool_result","tool_use_id":"i","content":[{"type":"text"}]}'),
    withBlocks('{"type":"image","source":{"type":"base64","data":"d"}}'),
    withBlocks('{"type":"image","source":{"url":"u"}}'),
    withBlocks('{"type":"image"}'),
    withBlocks('"a"'),
  ])('%s', (body) => expect(expectAgreement(Buffer.from(body))).toBe(false));
});
