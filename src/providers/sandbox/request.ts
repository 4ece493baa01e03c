/** Reads the fields of an OpenAI chat request that the sandbox supports. The gateway has validated them before. */

export interface SandboxRequest {
  /** The text of the last user message. */
  readonly lastUserText: string;
  readonly wordsMax: number;
  readonly stops: readonly string[];
  readonly choices: number;
  /** The function that `tool_choice` forces the model to call. */
  readonly forcedTool: string | null;
  readonly responseFormat: string;
  readonly messages: readonly unknown[];
}

/** Larger bodies are not parsed, because that would delay other clients. */
const bodyBytesMax = 256 * 1024;

type Fields = Record<string, unknown>;

/** Undefined where the body is not JSON. */
export function readSandboxRequest(body: Buffer): SandboxRequest | undefined {
  if (body.length > bodyBytesMax) {
    const notice = `The sandbox received a request of ${body.length} bytes. It echoes requests of up to ${bodyBytesMax}.`;
    return requestOf({ messages: [{ role: 'user', content: notice }] });
  }
  try {
    return requestOf(fieldsOf(JSON.parse(body.toString('utf8'))));
  } catch {
    return undefined;
  }
}

function requestOf(request: Fields): SandboxRequest {
  const { stop, n, tools, response_format } = request;
  const wordsMax = request.max_completion_tokens ?? request.max_tokens;
  return {
    lastUserText: lastUserText(request.messages),
    wordsMax: typeof wordsMax === 'number' ? wordsMax : Number.POSITIVE_INFINITY,
    stops: (Array.isArray(stop) ? stop : [stop]).filter((item) => typeof item === 'string' && item !== ''),
    choices: typeof n === 'number' ? n : 1,
    forcedTool: forcedTool(request.tool_choice, tools),
    responseFormat: String(fieldsOf(response_format).type ?? 'text'),
    messages: Array.isArray(request.messages) ? request.messages : [],
  };
}

function lastUserText(messages: unknown): string {
  const last = Array.isArray(messages) ? messages.findLast((message) => fieldsOf(message).role === 'user') : undefined;
  const { content } = fieldsOf(last);
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => fieldsOf(part).text)
    .filter((text) => typeof text === 'string')
    .join('');
}

function forcedTool(choice: unknown, tools: unknown): string | null {
  const name = fieldsOf(fieldsOf(choice).function).name;
  if (typeof name === 'string') return name;
  if (choice !== 'required' || !Array.isArray(tools)) return null;
  const first = fieldsOf(fieldsOf(tools[0]).function).name;
  return typeof first === 'string' ? first : null;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
