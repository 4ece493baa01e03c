import { describe, it } from 'vitest';
import { ask, badRequest, expectRefused, messages, useGateway } from '../harness.js';

const bench = useGateway();
const refused = (body: unknown, row: Parameters<typeof expectRefused>[2]) => expectRefused(bench, body, row);

describe('400 messages missing or empty', () => {
  it.each([[{}], [{ messages: null }], [{ messages: [] }]])('%j, param messages, and no upstream is called', (fields) =>
    refused(
      { model: 'acme/meta/llama', ...fields },
      badRequest('messages', /missing or empty/, /at least one message/),
    ),
  );

  it.each([
    ['a text', '"a text"'],
    [5, '5'],
    [{}, 'an object'],
    [true, 'true'],
  ])('%j is of a wrong type', (value, shown) =>
    refused(ask({ messages: value }), badRequest('messages', `\`messages\` is ${shown}`, 'an array')),
  );
});

describe('400 model id of a wrong shape', () => {
  it.each([
    ['llama', 1],
    ['meta/llama', 2],
    ['acme/meta/llama/defra/x', 5],
    ['a/b/c/d/e/f', 6],
    ['auto/meta', 2],
    ['auto/meta/llama/defra', 4],
    ['acme//llama', 3],
    ['/meta/llama', 3],
    ['acme/meta/', 3],
    ['acme/meta/llama/', 4],
    ['///', 4],
  ])('%s: the message states its %i segments and the forms that are taken', (id, segments) =>
    refused(
      ask({ model: id }),
      badRequest('model', `"${id}"`, `has ${segments} segment`, '{provider}/{creator}/{model}[/{locode}]'),
    ),
  );

  it.each([[{ model: '' }], [{ model: null }], [{}]])('%j has 0 segments', (fields) =>
    refused({ messages, ...fields }, badRequest('model', '0 segments', 'missing or empty')),
  );

  it.each([
    [7, '7'],
    [true, 'true'],
    [['acme/meta/llama'], 'an array'],
    [{}, 'an object'],
  ])('%j is of a wrong type', (id, shown) =>
    refused(ask({ model: id }), badRequest('model', `\`model\` is ${shown}`, 'a string')),
  );
});

describe('400 sampling parameter outside its range', () => {
  const rows: [string, string, string, string][] = [
    ['temperature', '2.0000000001', '2.0000000001', 'from 0 to 2'],
    ['temperature', '-0.1', '-0.1', 'from 0 to 2'],
    ['temperature', '1e999', 'Infinity', 'from 0 to 2'],
    ['temperature', '-1e999', '-Infinity', 'from 0 to 2'],
    ['top_p', '1.01', '1.01', 'from 0 to 1'],
    ['top_p', '-1', '-1', 'from 0 to 1'],
    ['frequency_penalty', '2.5', '2.5', 'from -2 to 2'],
    ['frequency_penalty', '-2.01', '-2.01', 'from -2 to 2'],
    ['presence_penalty', '3', '3', 'from -2 to 2'],
    ['presence_penalty', '-1e999', '-Infinity', 'from -2 to 2'],
    ['n', '0', '0', '1 or greater'],
    ['n', '-3', '-3', '1 or greater'],
    ['max_tokens', '0', '0', '1 or greater'],
    ['max_tokens', '1e999', 'Infinity', '1 or greater'],
    ['max_completion_tokens', '-1', '-1', '1 or greater'],
  ];

  it.each(rows)('%s %s: the message names the value %s and the range', (param, value, shown, range) =>
    refused(
      `{"model":"acme/meta/llama","messages":[{"role":"user"}],"${param}":${value}}`,
      badRequest(param, `\`${param}\` is ${shown}`, range),
    ),
  );

  it('stop of more than 4 sequences', () =>
    refused(ask({ stop: ['a', 'b', 'c', 'd', 'e'] }), badRequest('stop', '5', 'at most 4')));

  it.each([
    'temperature',
    'top_p',
    'frequency_penalty',
    'presence_penalty',
    'n',
    'max_tokens',
    'max_completion_tokens',
  ])('%s of a wrong JSON type is a 400 with that param', async (param) => {
    for (const [value, shown] of [
      ['1', '"1"'],
      [true, 'true'],
      [[], 'an array'],
      [{}, 'an object'],
    ] as const) {
      await refused(ask({ [param]: value }), badRequest(param, `\`${param}\` is ${shown}`));
    }
  });

  it.each(['n', 'max_tokens', 'max_completion_tokens'])('%s must be an integer', (param) =>
    refused(ask({ [param]: 1.5 }), badRequest(param, '1.5', 'an integer')),
  );

  it.each([
    ['stream', 'yes'],
    ['stream', 1],
    ['stop', 5],
    ['stop', ['a', 5]],
    ['response_format', 'json'],
    ['logprobs', 1],
    ['logit_bias', [1]],
    ['stream_options', true],
    ['fallback', []],
  ])('%s %j is of a wrong type', (param, value) => refused(ask({ [param]: value }), badRequest(param, `\`${param}\``)));

  it.each(['x', 1, [], {}])('stream_options.include_usage %j is of a wrong type', (include_usage) =>
    refused(
      ask({ stream: true, stream_options: { include_usage } }),
      badRequest('stream_options.include_usage', '`stream_options.include_usage`', 'a boolean'),
    ),
  );

  it.each([['acme/meta/llama'], [[1]], [{}]])('fallback.models %j is of a wrong type', (models) =>
    refused(ask({ fallback: { models } }), badRequest('fallback.models', '`fallback.models`')),
  );
});

describe('400 message role not allowed', () => {
  it.each([
    [{ role: 'function', name: 'f', content: 'x' }, '"function"'],
    [{ role: 'robot' }, '"robot"'],
    [{ role: 'User' }, '"User"'],
    [{ content: 'x' }, 'missing'],
    [{ role: null }, 'null'],
    [{ role: 5 }, '5'],
  ])('%j: the message names the index and lists the valid roles', (message, shown) =>
    refused(
      ask({ messages: [...messages, message] }),
      badRequest('messages', 'messages[1]', shown, 'system, developer, user, assistant and tool'),
    ),
  );

  it.each([
    { role: 'tool', content: 'x' },
    { role: 'tool', content: 'x', tool_call_id: null },
    { role: 'tool', tool_call_id: '' },
  ])('a tool message without tool_call_id: %j', (message) =>
    refused(ask({ messages: [...messages, message] }), badRequest('messages', 'messages[1]', 'tool_call_id')),
  );

  it.each([['text'], [null], [5], [[]]])('a message %j is no object', (message) =>
    refused(ask({ messages: [...messages, message] }), badRequest('messages', 'messages[1]', 'an object')),
  );
});

describe('400 invalid_alias_name', () => {
  it.each([
    'alias/',
    'alias/Upper',
    'alias/-x',
    'alias/_x',
    'alias/a b',
    'alias/ä',
    'alias/a/b',
    `alias/${'a'.repeat(65)}`,
  ])('%s, param model', (id) =>
    refused(ask({ model: id }), {
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_alias_name',
      param: 'model',
      says: [`"${id.slice(6)}"`, '1 to 64'],
    }),
  );
});
