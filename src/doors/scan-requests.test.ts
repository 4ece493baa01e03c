import { describe, expect, it } from 'vitest';
import { damaged } from '../../tests/support/damaged-bytes.js';
import { forSeeds, type SeededRandom } from '../../tests/support/seeded-random.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { parseMessagesRequest, readMessagesRequest } from './messages/read-request.js';
import { scanMessagesRequest } from './messages/scan-request.js';
import { parseResponsesRequest, readResponsesRequest } from './responses/read-request.js';
import { scanResponsesRequest } from './responses/scan-request.js';
import { plainRequest } from './translated-request.js';

interface Reader {
  isScanned(body: Buffer): boolean;
  read(body: Buffer): ChatRequest;
  parse(body: Buffer): ChatRequest;
}

const messages: Reader = {
  isScanned: (body) => scanMessagesRequest(body, true) !== null,
  read: (body) => readMessagesRequest(body),
  parse: (body) => parseMessagesRequest(body, false, true),
};
const responses: Reader = {
  isScanned: (body) => scanResponsesRequest(body) !== null,
  read: (body) => readResponsesRequest(body),
  parse: (body) => parseResponsesRequest(body),
};

/** The request with its translation, or why it is refused. */
const outcomeOf = (read: () => ChatRequest): unknown => {
  try {
    return plainRequest(read());
  } catch (error) {
    return { refused: (error as Error).message };
  }
};

/** Whatever is scanned is what the parser gives. Returns whether it was scanned. */
function expectAgreement({ isScanned, read, parse }: Reader, body: Buffer): boolean {
  const parsed = outcomeOf(() => parse(body));
  const scanned = isScanned(body);
  if (scanned) expect(parsed).not.toHaveProperty('refused');
  expect(outcomeOf(() => read(body))).toEqual(parsed);
  return scanned;
}

const message = '"model":"a/b/c","max_tokens":5,"messages":[{"role":"user","content":"hi é"}]';
const withBlocks = (...blocks: string[]): string =>
  `{"model":"a/b/c","max_tokens":5,"messages":[{"role":"user","content":[${blocks.join(',')}]}]}`;
const input = '"model":"a/b/c","input":"hi é"';
const withItems = (...items: string[]): string => `{"model":"a/b/c","input":[${items.join(',')}]}`;

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
  ])('%s', (body) => expect(expectAgreement(messages, Buffer.from(body))).toBe(true));
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
  ])('%s', (body) => expect(expectAgreement(messages, Buffer.from(body))).toBe(false));
});

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
  ])('%s', (body) => expect(expectAgreement(responses, Buffer.from(body))).toBe(true));
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
  ])('%s', (body) => expect(expectAgreement(responses, Buffer.from(body))).toBe(false));
});

describe('scan and parser agree on generated requests, whole and damaged:', () => {
  it.each([
    ['Messages', messages, messagesText],
    ['Responses', responses, responsesText],
  ] as const)('%s', (_, reader, textOf) => {
    let taken = 0;
    forSeeds(4_000, (random) => {
      const body = Buffer.from(textOf(random));
      if (expectAgreement(reader, body)) taken++;
      for (let round = 0; round < 4; round++) expectAgreement(reader, damaged(random, body));
    });
    expect(taken).toBeGreaterThan(60);
  });
});

const oddities = [
  'null',
  '1',
  '-1.5e3',
  '"x"',
  '""',
  '[]',
  '{}',
  'true',
  '"\\u0061"',
  '{"a":1,"a":2}',
  '[{}]',
  '"\\n"',
];

/** One of the usual texts; now and then another one. */
const odd = (random: SeededRandom, usual: readonly string[]): string =>
  random.pick(random.chance(0.97) ? usual : oddities);

type Shape = Readonly<Record<string, readonly string[]>>;

/** An object of some members of a shape, of which a few are always there. */
function objectText(random: SeededRandom, always: readonly string[], shape: Shape): string {
  const members = Object.entries(shape)
    .filter(([name]) => (always.includes(name) ? random.chance(0.98) : random.chance(0.15)))
    .map(([name, values]) => `"${name}"${random.pick(['', '', ' '])}:${odd(random, values)}`);
  if (random.chance(0.02)) members.push(...members.slice(0, 1));
  if (random.chance(0.3)) members.reverse();
  return `{${members.join(random.pick([',', ' , ']))}}`;
}

const list = (random: SeededRandom, entry: () => string): string =>
  `[${Array.from({ length: 1 + random.below(2) }, entry).join(',')}]`;

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

function responsesText(random: SeededRandom): string {
  const part = (): string => {
    const [type, member] = random.pick([
      ['"input_text"', 'text'],
      ['"output_text"', 'text'],
      ['"refusal"', 'refusal'],
      ['"input_image"', 'image_url'],
    ] as const);
    return objectText(random, ['type', member], {
      type: [type],
      text: strings,
      refusal: strings,
      image_url: strings,
      detail: ['"low"'],
    });
  };
  const item = (): string => {
    const [type, always] = random.pick([
      ['"message"', ['role', 'content']],
      ['"message"', ['type', 'role', 'content']],
      ['"function_call"', ['type', 'call_id', 'name', 'arguments']],
      ['"function_call_output"', ['type', 'call_id', 'output']],
      ['"reasoning"', ['type']],
    ] as const);
    return objectText(random, always, {
      type: [type],
      role: ['"user"', '"assistant"', '"developer"'],
      content: [...strings, list(random, part)],
      call_id: strings,
      name: strings,
      arguments: ['"{}"'],
      output: [...strings, list(random, part)],
      id: strings,
    });
  };
  const tool = (): string =>
    objectText(random, ['type', 'name', 'parameters'], {
      type: ['"function"', '"function"', '"custom"'],
      name: strings.slice(0, 3),
      description: strings,
      parameters: schemas,
      strict: ['true', 'null'],
    });
  return objectText(random, ['model', 'input'], {
    model: ['"a/b/c"'],
    input: [...strings, list(random, item), list(random, item)],
    instructions: strings,
    max_output_tokens: ['5'],
    temperature: ['0.5', '2'],
    stream: ['true', 'false'],
    store: ['false'],
    background: ['false'],
    parallel_tool_calls: ['true', 'false'],
    reasoning: ['{"effort":"low"}', '{}', '{"summary":null}'],
    text: ['{"verbosity":"low"}', '{"format":{"type":"text"}}'],
    tools: [list(random, tool)],
    tool_choice: ['"auto"', '{"type":"function","name":"f"}'],
    include: ['["reasoning.encrypted_content"]', '[]'],
    prompt_cache_key: ['"k"', '"é"'],
    service_tier: ['"default"', '"flex"'],
    user: strings,
    other: ['null', '1'],
  });
}
