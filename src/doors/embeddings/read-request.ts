/** Reads a request of OpenAI's embeddings API: texts or tokens, one or many. */
import { gatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { shown, type TextEncoding } from '../../wire/json-text.js';
import type { EmbeddingTask } from '../../wire/task.js';
import type { Fields } from '../body.js';
import { FieldTable, passed, read, refusal, routing, unknownHere } from '../field-table.js';
import { type ReadTask, readCount, readTaskRequest, type TaskApi } from '../task-fields.js';

/** As in OpenAI's API. */
export const inputsMax = 2_048;
const formats = ['float', 'base64'] as const;

/** The table of the API. */
export const embeddingsFields = new FieldTable({
  ...routing,
  model: read('Replaced by the model of the route.'),
  input: passed('As sent, in as many calls as the provider needs.'),
  dimensions: passed('As sent, where the model has vectors of other lengths.'),
  encoding_format: passed('As sent where the provider has it. The answer has what was asked for.'),
  user: passed('As sent. Left out where the provider has no place for it.'),
  input_type: unknownHere('OpenRouter'),
  trace: unknownHere('OpenRouter'),
});

const embeddingsApi: TaskApi = {
  fields: embeddingsFields,
  own: 'input',
  read: readTask,
};

export function readRequest(bytes: Buffer, large = false): ChatRequest {
  return readTaskRequest(embeddingsApi, bytes, large);
}

function readTask(fields: Fields, encoding: TextEncoding): ReadTask {
  const { user } = fields;
  const dimensions = readCount(fields.dimensions, 'dimensions', encoding);
  if (user !== undefined && typeof user !== 'string') {
    throw gatewayError('field_type', { param: 'user', found: shown(user, encoding), expected: 'a string' });
  }
  const inputs = readInputs(fields.input, encoding);
  const task: EmbeddingTask = {
    kind: 'embedding',
    ...inputs,
    format: readFormat(fields.encoding_format, encoding),
    ...(fields.encoding_format !== undefined && { isFormatSent: true }),
    ...(dimensions !== undefined && { dimensions }),
    ...(user !== undefined && { user: JSON.stringify(user) }),
  };
  return { task, members: `"input":[${inputs.inputs.join(',')}]` };
}

function readFormat(format: unknown, encoding: TextEncoding): EmbeddingTask['format'] {
  if (format === undefined || format === 'float') return 'float';
  if (format === 'base64') return 'base64';
  const expected = `one of ${formats.map((each) => `"${each}"`).join(', ')}`;
  throw gatewayError('field_type', { param: 'encoding_format', found: shown(format, encoding), expected });
}

const expectedInput = 'a text, a list of texts, a list of tokens or a list of token lists';

type Inputs = Pick<EmbeddingTask, 'inputs' | 'isSingle' | 'isTokens' | 'tokens'>;

function readInputs(input: unknown, encoding: TextEncoding): Inputs {
  if (input === undefined) throw refusal('input', '`input` is missing. Send the text to embed.');
  if (typeof input === 'string') return { inputs: [textOf(input, '`input`')], isSingle: true, isTokens: false };
  if (!Array.isArray(input)) {
    throw gatewayError('field_type', { param: 'input', found: shown(input, encoding), expected: expectedInput });
  }
  if (input.length === 0) throw refusal('input', '`input` is an empty list. Send at least one text.');
  if (typeof input[0] === 'number') {
    return { inputs: [tokensOf(input, '`input`', encoding)], isSingle: true, isTokens: true, tokens: input.length };
  }
  if (input.length > inputsMax) {
    const value = `a list of ${input.length} entries`;
    throw gatewayError('parameter_out_of_range', { param: 'input', value, range: `at most ${inputsMax} entries` });
  }
  const isTokens = Array.isArray(input[0]);
  const inputs = input.map((entry: unknown, index) => {
    const name = `\`input[${index}]\``;
    if (isTokens && Array.isArray(entry)) return tokensOf(entry, name, encoding);
    if (!isTokens && typeof entry === 'string') return textOf(entry, name);
    const found = `a list whose entry ${index} is ${shown(entry, encoding)}`;
    throw gatewayError('field_type', { param: 'input', found, expected: expectedInput });
  });
  if (!isTokens) return { inputs, isTokens };
  return { inputs, isTokens, tokens: input.reduce((sum: number, { length }: unknown[]) => sum + length, 0) };
}

function textOf(text: string, name: string): string {
  if (text === '') throw refusal('input', `${name} is an empty text. Send a text.`);
  return JSON.stringify(text);
}

function tokensOf(tokens: readonly unknown[], name: string, encoding: TextEncoding): string {
  if (tokens.length === 0) throw refusal('input', `${name} is an empty list. Send a token.`);
  const wrong = tokens.findIndex((token) => !Number.isInteger(token) || (token as number) < 0);
  if (wrong === -1) return JSON.stringify(tokens);
  const found = `a list of tokens whose entry ${wrong} is ${shown(tokens[wrong], encoding)}`;
  throw gatewayError('field_type', { param: 'input', found, expected: expectedInput });
}
