import { describe, expect, it } from 'vitest';
import { damaged } from '../../tests/support/damaged-bytes.js';
import { forSeeds, type SeededRandom } from '../../tests/support/seeded-random.js';
import { detachTexts } from '../providers/detach-texts.js';

import { readTaskAnswer } from '../providers/read-task-answer.js';
import { parseAnswer, readAnswer } from '../providers/translation.js';
import { bytesWithPieces, type CompletionParts } from '../wire/completion-parts.js';
import { chatDoor } from './chat/chat-door.js';
import type { Door } from './door.js';
import { messagesDoor } from './messages/messages-door.js';
import { readMessagesRequest } from './messages/read-request.js';
import { responsesDoor } from './responses/responses-door.js';

const terms = { contextWindow: 8_192 };
const request = readMessagesRequest(
  Buffer.from('{"model":"a/b/c","max_tokens":1,"messages":[{"role":"user","content":"a"}]}'),
);

function written(door: Door, parts: CompletionParts): string {
  return door.writeAnswer({
    request,
    id: 'gen-1',
    created: 7,
    model: 'acme/meta/llama/defra',
    parts,
    usage: { promptTokens: 1, completionTokens: 2, cachedTokens: 0, reasoningTokens: 0 },
    cost: { pico: 100_000_000_000n, details: { input: 3n }, tier: null, lines: [] },
    metadata: '{"provider":"acme"}',
  });
}

/** A call without an id gets a new one each time. */
const withoutMadeIds = (reading: unknown): unknown =>
  JSON.parse(JSON.stringify(reading).replace(/call_[0-9a-z]{26}/g, 'call_'));

/** Whatever is scanned has the parts that the parser gives, and is written alike. Returns whether it was scanned. */
function expectAgreement(door: Door, body: Buffer): boolean {
  const format = `native:${door.name}`;
  const read = readAnswer(body, format, terms);
  const parsed = parseAnswer(body, format, terms);
  if (read.kind !== 'completion' || read.parts.places === undefined) {
    expect(withoutMadeIds(read)).toEqual(withoutMadeIds(parsed));
    return false;
  }
  const { places: _, ...parts } = read.parts;
  expect({ kind: 'completion', parts }).toEqual(parsed);
  expect(written(door, read.parts)).toBe(written(door, parts));
  return true;
}

const used = '"usage":{"input_tokens":3,"output_tokens":4}';
const message = (content: string, more = '"stop_reason":"end_turn"'): string =>
  `{"id":"m","type":"message","role":"assistant","model":"m-1","content":[${content}],${more},${used}}`;
const text = '{"type":"text","text":"a \\"b\\" é"}';
const pretty = (json: string): string => JSON.stringify(JSON.parse(json), null, 2);

describe('the scan of a message takes', () => {
  it.each([
    message(text),
    ` ${message(text, '"stop_reason" : "max_tokens" , "stop_sequence" : null,"error":null')} `,
    message(`${text},{"type":"tool_use","id":"t","name":"f","input":{"a":[1,{}]}}`, '"stop_reason":"tool_use"'),
    message('{"type":"tool_use","id":"t","input":{}}', '"stop_reason":"tool_use"'),
    message('{"type":"server_tool_use","id":"t","name":"w","input":{}}', '"stop_reason":"refusal"'),
    message(text).replace(used, '"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":4,"cost":1}'),
    message(text).replace(used, '"usage":{"input_tokens":"3","output_tokens":4}'),
    message(text).replace('"id":"m",', `${used},"id":"m",`).replace(`,${used}}`, '}'),
    pretty(message(text)),
    `${pretty(message(text)).replaceAll('\n', '\r\n\t')}\n`,
  ])('%s', (body) => expect(expectAgreement(messagesDoor, Buffer.from(body))).toBe(true));
});

describe('the scan of a message leaves to the parser', () => {
  it.each([
    '',
    '{}',
    message(text).slice(0, -1),
    message(text).replace(used, '"usage":null'),
    message(text).replace(used, '"usage":{}'),
    message(text).replace(used, `${used},${used}`),
    message(text).replace(used, `${used},"error":{"message":"x"}`),
    message(text).replace(used, `${used},"router_metadata":{}`),
    message(text).replace('"model":"m-1",', ''),
    message(text).replace('"type":"message"', '"type":"error"'),
    message(text).replace('"type":"message",', ''),
    message(text).replace('é', '\\u00e9'),
    message(text).replace('é', '\n'),
    pretty(message(text)).replace('é', '\n'),
    pretty(message(text)).replace('m-1', 'm\t1'),
    pretty(message(text)).replace('"output_tokens"', '"\n":1,"output_tokens"'),
    pretty(message(text)).replace('\n', '\u0001'),
    message('"text"'),
    message(''),
    message(text, '"stop_reason":null'),
  ])('%s', (body) => expect(expectAgreement(messagesDoor, Buffer.from(body))).toBe(false));
});

const totals = '"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}';
const response = (output: string, more = '"status":"completed"'): string =>
  `{"id":"r","object":"response","error":null,"model":"m-1",${more},"output":[${output}],${totals}}`;
const said = '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a é"}]}';

describe('the scan of a response takes', () => {
  it.each([
    response(said),
    response(`{"type":"reasoning","summary":[]},${said}`, '"status":"completed","service_tier":"default"'),
    response('{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}'),
    response(said, '"service_tier":"flex","status":"completed","incomplete_details":null,"tools":[],"x":1'),
    pretty(response(said)),
    pretty(response(said, '"service_tier":null,"status":"completed"')),
  ])('%s', (body) => expect(expectAgreement(responsesDoor, Buffer.from(body))).toBe(true));
});

describe('the scan of a response leaves to the parser', () => {
  it.each([
    '[]',
    response(said).slice(0, -1),
    response(said, '"status":"failed"'),
    response(said, '"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}'),
    response(said, '"x":1'),
    response('{"type":"web_search_call","id":"w"}'),
    response('{"type":null}'),
    response('"a"'),
    response(said).replace('"error":null', '"error":{"message":"x"}'),
    response(said).replace(totals, '"usage":null'),
    response(said).replace(totals, '"usage":{"total_tokens":1}'),
  ])('%s', (body) => expect(expectAgreement(responsesDoor, Buffer.from(body))).toBe(false));
});

describe('scan and parser agree on generated answers, whole and damaged:', () => {
  it.each([
    ['Messages', messagesDoor, messageText],
    ['Responses', responsesDoor, responseText],
  ] as const)('%s', (_, door, textOf) => {
    let taken = 0;
    forSeeds(4_000, (random) => {
      const body = Buffer.from(textOf(random));
      if (expectAgreement(door, body)) taken++;
      for (let round = 0; round < 4; round++) expectAgreement(door, damaged(random, body));
    });
    expect(taken).toBeGreaterThan(60);
  });
});

describe('a large answer whose text is handed over as bytes is written like one that is not:', () => {
  const long = 'é "quoted" '.repeat(10_000);
  const joined = (door: Door, parts: CompletionParts): string =>
    Buffer.concat(bytesWithPieces(written(door, parts), parts.pieces ?? [], parts.encoding)).toString();
  const plain = (door: Door, parts: CompletionParts): string =>
    Buffer.from(written(door, parts), parts.encoding).toString();
  const block = { type: 'text', text: long };
  const messageOf = (more: object) => ({
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_reason: 'end_turn',
    ...more,
  });
  const usage = { input_tokens: 3, output_tokens: 4 };
  const escaped = (value: object) => JSON.stringify(value).replaceAll('é', '\\u00e9');
  const choices = [{ index: 0, message: { role: 'assistant', content: long }, finish_reason: 'stop' }];
  const chat = { id: 'c', choices, model: 'm', usage: { prompt_tokens: 3, completion_tokens: 4 } };

  it.each<[string, Door, string, string]>([
    ['usage last', messagesDoor, 'native:messages', JSON.stringify(messageOf({ content: [block], usage }))],
    ['usage first', messagesDoor, 'native:messages', JSON.stringify({ usage, ...messageOf({ content: [block] }) })],
    ['with escapes', messagesDoor, 'native:messages', escaped(messageOf({ content: [block], usage, x: long }))],
    [
      'in several lines',
      responsesDoor,
      'native:responses',
      JSON.stringify({ output: [block], status: 'completed', model: 'm', usage, note: long }, null, 2),
    ],
    [
      'without a model',
      messagesDoor,
      'native:messages',
      escaped({ ...messageOf({ content: [block], usage }), model: undefined }),
    ],
    ['a chat', chatDoor, 'openai', JSON.stringify(chat)],
    ['a chat with escapes', chatDoor, 'openai', escaped(chat)],
    ['a chat that is put into shape', chatDoor, 'openai', JSON.stringify({ ...chat, choices: [{ text: long }] })],
  ])('%s', (_, door, format, body) => {
    const read = () => readAnswer(Buffer.from(body), format, terms);
    const [reading, handed] = [read(), detachTexts(read(), false)];
    if (reading.kind !== 'completion' || handed.kind !== 'completion') throw new Error('It is no completion.');
    expect(joined(door, handed.parts)).toBe(plain(door, reading.parts));
    expect(JSON.stringify(handed.parts.members + handed.parts.native).length < 10_000).toBe(
      reading.parts.answeredModel === 'm',
    );
  });

  it.each([
    ['its usage', { ...chat, usage: { ...chat.usage, x: long } }, 'its usage is over 65536 bytes'],
    [
      'a text without usage',
      { ...chat, usage: null, choices: [{ ...choices[0], message: { content: 'x'.repeat(9_000_000) } }] },
      'its answer has no usage, and a text of over 8388608 bytes',
    ],
  ])('%s that is too large is malformed', (_, body, reason) => {
    expect(detachTexts(readAnswer(Buffer.from(JSON.stringify(body)), 'openai', terms), false)).toMatchObject({
      kind: 'malformed',
      reason,
    });
  });

  it('an error, a model and figures that are large are cut', () => {
    const error = { error: { message: long } };
    const read = readAnswer(Buffer.from(JSON.stringify(error)), 'openai', terms);
    expect(detachTexts(read, false)).toEqual({ kind: 'error', error: JSON.stringify(error).slice(0, 65_536) });
    const question = { dialect: 'openai', kind: 'rerank', count: 1, dimensions: null, format: 'float' } as const;
    const results = [{ index: 0, relevance_score: 1 }];
    const ranked = readTaskAnswer(
      Buffer.from(JSON.stringify({ results, model: 'm'.repeat(70_000), usage: { total_tokens: [long] } })),
      question,
    );
    expect(detachTexts(ranked, false)).toMatchObject({ answer: { model: 'm'.repeat(65_536), tokens: {} } });
  });
});

const oddities = ['null', '1', '"x"', '""', '[]', '{}', 'true', '-1.5e3', '"\\u0061"', '{"a":1,"a":2}', '"\n"'];

const odd = (random: SeededRandom, usual: readonly string[]): string =>
  random.pick(random.chance(0.97) ? usual : oddities);

/** An object of members, in the form of one line or of several. */
function objectText(random: SeededRandom, shape: Readonly<Record<string, readonly string[]>>): string {
  const members = Object.entries(shape)
    .filter(() => random.chance(0.97))
    .map(([name, values]) => `"${name}":${random.pick(['', '', ' '])}${odd(random, values)}`);
  if (random.chance(0.02)) members.push(...members.slice(0, 1));
  if (random.chance(0.3)) members.reverse();
  const [open, comma, close] = random.pick([
    ['{', ',', '}'],
    ['{ ', ' , ', ' }'],
    ['{\n  ', ',\n  ', '\n}'],
  ] as const);
  return open + members.join(comma) + close;
}

function messageText(random: SeededRandom): string {
  const block = (): string =>
    objectText(random, {
      type: ['"text"', '"text"', '"tool_use"', '"thinking"', '"server_tool_use"'],
      text: ['"x"', '"\\n字"'],
      name: ['"f"'],
      input: ['{}', '{"a":1}'],
    });
  const usage = objectText(random, {
    input_tokens: ['1', '20'],
    output_tokens: ['1', '300'],
    cache_read_input_tokens: ['0', '5'],
    service_tier: ['"standard"', '"priority"'],
  });
  return objectText(random, {
    id: ['"m"'],
    type: ['"message"'],
    model: ['"m"', '"é"'],
    content: [`[${block()}]`, `[${block()}, ${block()}]`],
    stop_reason: ['"end_turn"', '"tool_use"', '"max_tokens"', '"pause_turn"'],
    usage: [usage],
  });
}

function responseText(random: SeededRandom): string {
  const item = (): string =>
    objectText(random, {
      type: [
        '"message"',
        '"message"',
        '"function_call"',
        '"reasoning"',
        random.chance(0.1) ? '"mcp_call"' : '"message"',
      ],
      content: ['[{"type":"output_text","text":"a"}]', '[]'],
      name: ['"f"'],
      arguments: ['"{}"'],
    });
  const usage = objectText(random, {
    input_tokens: ['1', '20'],
    output_tokens: ['1', '300'],
    total_tokens: ['2', '320'],
    input_tokens_details: ['{"cached_tokens":0}'],
  });
  return objectText(random, {
    id: ['"r"'],
    model: ['"m"', '"é"'],
    status: ['"completed"', '"completed"', random.chance(0.1) ? '"failed"' : '"completed"'],
    error: ['null'],
    service_tier: ['"default"', '"flex"', 'null'],
    output: [`[${item()}]`, `[${item()}, ${item()}]`],
    usage: [usage],
  });
}
