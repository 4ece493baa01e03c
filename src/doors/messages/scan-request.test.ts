import { describe, expect, it } from 'vitest';
import { damaged } from '../../../tests/support/damaged-bytes.js';
import { list, objectText } from '../../../tests/support/object-texts.js';
import { forSeeds, type SeededRandom } from '../../../tests/support/seeded-random.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { plainRequest } from '../translated-request.js';
import { parseMessagesRequest, readMessagesRequest } from './read-request.js';
import { scanMessagesRequest } from './scan-request.js';

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

describe('scan and parser agree', () => {
  it('on generated requests, whole and damaged', () => {
    let taken = 0;
    forSeeds(4_000, (random) => {
      const body = Buffer.from(messagesText(random));
      if (expectAgreement(body)) taken++;
      for (let round = 0; round < 4; round++) expectAgreement(damaged(random, body));
    });
    expect(taken).toBeGreaterThan(60);
  });
});

const strings = ['"x"', '"a \\"b\\""', '"é字"', '""'];
const schemas = ['{}', '{"type":"object","properties":{"a":{"type":"string"}}}'];

function blockText(random: SeededRandom, depth: number): string {
  const inner = depth > 0 ? list(random, () => blockText(random, depth - 1)) : '"x"';
  const kinds: readonly (readonly [type: string, always: readonly string[]])[] = [
    ['"text"', ['type', 'text']],
    ['"text"', ['type', 'text']],
    ['"tool_use"', ['type', 'id', 'name', 'input']],
    ['"tool_result"', ['type', 'tool_use_id', 'content']],
    ['"image"', ['type', 'source']],
    ['"thinking"', ['type']],
  ];
  const [type, always] = random.pick(kinds);
  const source = objectText(random, ['type', 'data', 'media_type', 'url'], {
    type: ['"base64"', '"url"'],
    data: strings,
    media_type: strings,
    url: strings,
  });
  return objectText(random, always, {
    type: [type],
    text: strings,
    id: strings,
    name: strings,
    input: schemas,
    tool_use_id: strings,
    content: [inner, '"x"'],
    source: [source],
    cache_control: ['{"type":"ephemeral"}'],
  });
}

function messagesText(random: SeededRandom): string {
  const message = (): string =>
    objectText(random, ['role', 'content'], {
      role: ['"user"', '"assistant"', '"user"', '"system"'],
      content: [...strings, list(random, () => blockText(random, 1))],
      more: ['1'],
    });
  const tool = (): string =>
    objectText(random, ['name', 'input_schema'], {
      type: ['"custom"'],
      name: strings.slice(0, 3),
      description: strings,
      input_schema: schemas,
      strict: ['true'],
    });
  return objectText(random, ['model', 'max_tokens', 'messages'], {
    model: ['"a/b/c"'],
    max_tokens: ['5', '1e2'],
    messages: [list(random, message)],
    system: [...strings, list(random, () => blockText(random, 0))],
    temperature: ['0.5', '1', '-0'],
    top_k: ['1', '0.5'],
    stream: ['true', 'false'],
    stop_sequences: ['[]', '["a","b"]'],
    tools: [list(random, tool)],
    tool_choice: ['{"type":"auto"}', '{"type":"tool","name":"f"}', '{"type":"any","disable_parallel_tool_use":true}'],
    metadata: ['{"user_id":"u"}', '{}', '{"user_id":null}'],
    thinking: ['{"type":"enabled","budget_tokens":10}', '{"type":"disabled"}'],
    output_config: ['{"effort":"high"}', '{"task_budget":{}}', '{}', '{"format":null}'],
    service_tier: ['"auto"', '"priority"'],
    cache_control: ['{"type":"ephemeral"}'],
    other: ['null', '1'],
    ['__proto__']: ['1'],
  });
}
