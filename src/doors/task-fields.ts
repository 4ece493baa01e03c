/** Reads what the bodies of the embeddings and the rerank API have in common. */
import { gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { shown, type TextEncoding, tooDeep } from '../wire/json-text.js';
import type { Task } from '../wire/task.js';
import { checkFallback, checkModel, type Fields, parseBody, tooDeepError } from './body.js';
import { type FieldTable, refusal, shownName } from './field-table.js';
import { routingFieldsOf } from './routing-fields.js';
import { checkDoor } from './wrong-door.js';

/** What an API's own fields say: the task, and what of the request counts as its prompt. */
export interface ReadTask {
  readonly task: Task;
  /** JSON members without the outer braces. */
  readonly members: string;
}

export interface TaskApi {
  /** Every field of the API. Another one is refused, because no provider would get it. */
  readonly fields: FieldTable;
  /** The field that makes a body one of this API. */
  readonly own: string;
  read(fields: Fields, encoding: TextEncoding): ReadTask;
}

export function readTaskRequest(api: TaskApi, bytes: Buffer, large: boolean): ChatRequest {
  const { fields: sent, encoding } = parseBody(bytes, large);
  if (tooDeep(sent)) throw tooDeepError();
  // A field that is null counts as left out.
  const fields: Fields = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null));
  api.fields.check(sent, encoding);
  const model = checkModel(fields.model, encoding);
  checkDoor(fields, api.own);
  for (const name in fields) {
    if (api.fields.fields.has(name)) continue;
    const shown = shownName(name, encoding);
    throw refusal(shown, `\`${shown}\` is not a field of this API. Leave it out.`);
  }
  const { task, members } = api.read(fields, encoding);
  return {
    ...routingFieldsOf(fields, encoding),
    model,
    stream: false,
    includeUsage: false,
    needs: [],
    responseFormat: null,
    fallback: checkFallback(fields.fallback, encoding),
    members,
    streamOptionMembers: '',
    encoding,
    task,
  };
}

/** A whole number of at least 1; undefined where it was not sent. */
export function readCount(value: unknown, param: string, encoding: TextEncoding): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw gatewayError('field_type', { param, found: shown(value, encoding), expected: 'an integer' });
  }
  if (value >= 1) return value;
  throw gatewayError('parameter_out_of_range', { param, value: shown(value, encoding), range: '1 or greater' });
}
