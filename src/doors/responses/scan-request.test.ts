import { describe, expect, it } from 'vitest';
import { damaged } from '../../../tests/support/damaged-bytes.js';
import { list, objectText } from '../../../tests/support/object-texts.js';
import { forSeeds, type SeededRandom } from '../../../tests/support/seeded-random.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { plainRequest } from '../translated-request.js';
import { parseResponsesRequest, readResponsesRequest } from './read-request.js';
import { scanResponsesRequest } from './scan-request.js';

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

describe('scan and parser agree', () => {
  it('on generated requests, whole and damaged', () => {
    let taken = 0;
    forSeeds(4_000, (random) => {
      const body = Buffer.from(responsesText(random));
      if (expectAgreement(body)) taken++;
      for (let round = 0; round < 4; round++) expectAgreement(damaged(random, body));
    });
    expect(taken).toBeGreaterThan(60);
  });
});

const strings = ['"x"', '"a \\"b\\""', '"é字"', '""'];
const schemas = ['{}', '{"type":"object","properties":{"a":{"type":"string"}}}'];

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
