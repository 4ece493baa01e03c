/** Writes a request to an OpenAI-compatible provider: the route's model, then the client's members without parsing them again. */
import { asLatin1, type Latin1Text } from '../../../base/latin1.js';
import type { ChatRequest } from '../../../wire/chat-request.js';
import { findMembers, keptMembers } from '../../../wire/json-members.js';
import type { Target } from '../dialect.js';

export const chatPath = '/chat/completions';

type RequestTarget = Pick<Target, 'upstreamModel' | 'streamUsage' | 'unsupportedParameters'>;

const closing = Buffer.from('}');

/** Latin1 text where possible, because a socket writes it without an intermediate buffer. */
export function requestBody(request: ChatRequest, target: RequestTarget): Latin1Text | Buffer {
  const { encoding } = request;
  const unsupported = target.unsupportedParameters;
  const members = unsupported?.length ? membersWithout(request, unsupported) : request.members;
  const head = `{"model":${quoted(target.upstreamModel)},${streamMembers(request, target)}`;
  if (typeof members !== 'string') return Buffer.concat([Buffer.from(`${head},`, encoding), members, closing]);
  const text = `${head}${members === '' ? '' : ','}${members}}`;
  return encoding === 'latin1' ? asLatin1(text) : Buffer.from(text, 'utf8');
}

/** Where the members cannot be separated, for example because one is repeated, all are sent, and the provider judges. */
function membersWithout({ members }: ChatRequest, names: readonly string[]): ChatRequest['members'] {
  const text = `{${typeof members === 'string' ? members : members.toString('latin1')}}`;
  const found = findMembers(text);
  if (!found?.keys.some((key) => names.includes(key))) return members;
  const kept = keptMembers(text, found, (key) => !names.includes(key));
  return typeof members === 'string' ? kept : Buffer.from(kept, 'latin1');
}

/** The upstream is always asked for usage. `stream` is always sent explicitly. */
function streamMembers({ stream, streamOptionMembers }: ChatRequest, { streamUsage }: RequestTarget): string {
  if (!stream) return '"stream":false';
  if (!streamUsage) return '"stream":true';
  const others = streamOptionMembers === '' ? '' : `,${streamOptionMembers}`;
  return `"stream":true,"stream_options":{"include_usage":true${others}}`;
}

const quotedModels = new Map<string, string>();

/** The model as a JSON string, cached. It is ASCII only, so that it fits any encoding. */
function quoted(model: string): string {
  let text = quotedModels.get(model);
  if (text === undefined) {
    text = JSON.stringify(model).replace(
      /[^\u0020-\u007e]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    quotedModels.set(model, text);
  }
  return text;
}
