/** Counts the tokens of a prompt and an answer where the provider reports no usage (docs/decisions/0002). */

const perMessage = 3;
const perReply = 3;

/** The members of a request that have text. */
export interface CountedRequest {
  messages?: unknown;
  tools?: unknown;
  input?: unknown;
  query?: unknown;
  documents?: unknown;
}

interface Message {
  role?: unknown;
  name?: unknown;
  content?: unknown;
  tool_calls?: unknown;
}

/** OpenAI's published method: three tokens for each message, its role, name and text, and three that open the reply. */
export function countPrompt(request: CountedRequest, count: (text: string) => number): number {
  if (request.input !== undefined) return countInputs(request.input, count);
  if (request.documents !== undefined) return countInputs([request.query, request.documents], count);
  const messages = Array.isArray(request.messages) ? (request.messages as Message[]) : [];
  let total = perReply;
  for (const message of messages) {
    total += perMessage + count(String(message.role ?? ''));
    if (typeof message.name === 'string') total += 1 + count(message.name);
    total += countContent(message.content, count);
    if (message.tool_calls) total += count(JSON.stringify(message.tool_calls));
  }
  if (request.tools) total += count(JSON.stringify(request.tools));
  return total;
}

/** The texts and tokens of a request that is no chat: what is embedded, or a query and its documents. */
function countInputs(value: unknown, count: (text: string) => number): number {
  if (typeof value === 'string') return count(value);
  if (typeof value === 'number') return 1;
  if (!Array.isArray(value)) return 0;
  return value.reduce((total: number, item) => total + countInputs(item, count), 0);
}

/** Images and other parts are not text. Without the provider's usage they cannot be counted, and are free. */
function countContent(content: unknown, count: (text: string) => number): number {
  if (typeof content === 'string') return count(content);
  if (!Array.isArray(content)) return 0;
  let total = 0;
  for (const part of content) {
    const { text } = (part ?? {}) as { text?: unknown };
    if (typeof text === 'string') total += count(text);
  }
  return total;
}
