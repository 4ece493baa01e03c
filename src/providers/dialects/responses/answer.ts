/**
 * Reads a whole answer of the Responses API as a completion, for the bill and the receipt. The answer itself is passed on as the
 * provider wrote it, so only text, calls, usage and the end matter here.
 */
import { containerTool } from '../../../wire/container-tools.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import {
  type Answered,
  argumentsOf,
  completionOf,
  emptyAnswer,
  errorAnswer,
  toolCallId,
} from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import type { TranslatedAnswer } from '../dialect.js';

export function readResponse(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  if (isFields(value.error) || value.status === 'failed') return errorAnswer(value, encoding);
  const { output } = value;
  if (!Array.isArray(output)) return { kind: 'malformed', reason: 'its answer has no output' };
  const answered = emptyAnswer(value.model, usageOf(value));
  for (const item of output) if (isFields(item)) takeItem(item, answered);
  answered.finishReason = finishReasonOf(value, answered.toolCalls.length > 0);
  return completionOf(answered);
}

/** The same for a compacted conversation. What it repeats of the conversation is not an answer. */
export function readCompaction(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  if (!isFields(value) || !Array.isArray(value.output)) return readResponse(value, encoding);
  return readResponse({ ...value, output: [] }, encoding);
}

function takeItem(item: Fields, answered: Answered): void {
  switch (item.type) {
    case 'message':
      answered.content += textsIn(item.content);
      break;
    case 'reasoning':
      answered.reasoning += textsIn(item.content) + textsIn(item.summary);
      break;
    case 'function_call':
    case 'custom_tool_call':
      answered.toolCalls.push({
        id: toolCallId(item.call_id),
        name: String(item.name),
        arguments: argumentsOf(item.arguments ?? item.input),
      });
  }
}

function textsIn(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  return parts.map((part) => (isFields(part) ? String(part.text ?? part.refusal ?? '') : '')).join('');
}

export function finishReasonOf({ status, incomplete_details }: Fields, calledTools: boolean): string {
  if (status === 'incomplete') {
    return isFields(incomplete_details) && incomplete_details.reason === 'content_filter' ? 'content_filter' : 'length';
  }
  return calledTools ? 'tool_calls' : 'stop';
}

/** The provider's usage, with the uses of its tools and the tier, which may be all that there is. Undefined where there is none. */
export function usageOf(response: Fields): Fields | undefined {
  const { usage, service_tier } = response;
  const tier = typeof service_tier === 'string' ? { service_tier } : undefined;
  if (!isFields(usage)) return tier;
  const uses = countsTools(usage) ? {} : toolUses(response);
  return { ...usage, ...(Object.keys(uses).length > 0 && { server_tool_use: uses }), ...tier };
}

/** Whether the usage itself counts what is billed: xAI shows calls as items that failed and cost nothing. */
function countsTools({ server_tool_use, server_side_tool_usage_details }: Fields): boolean {
  const counts = server_tool_use ?? server_side_tool_usage_details;
  return isFields(counts) && Object.keys(counts).length > 0;
}

/** What the items show, and the count of searches that OpenAI gives beside its usage. */
function toolUses({ output, tools, tool_usage }: Fields): Fields {
  const uses: Record<string, number> = {};
  const containers = new Set<unknown>();
  for (const item of Array.isArray(output) ? output : []) {
    const tool = isFields(item) ? toolUsedBy(item, tools, containers) : undefined;
    if (tool !== undefined) uses[tool] = (uses[tool] ?? 0) + 1;
  }
  const searches = isFields(tool_usage) && isFields(tool_usage.web_search) ? tool_usage.web_search.num_requests : null;
  return searches === undefined || searches === null ? uses : { ...uses, web_search: searches };
}

/** Tools of which each call is billed: `file_search_call` is one of `file_search`. */
const billedCall = /^(file_search|image_generation|mcp)_call$/;

/** The tool whose price is due for an item; undefined where none is. */
function toolUsedBy(item: Fields, tools: unknown, containers: Set<unknown>): string | undefined {
  switch (item.type) {
    case 'web_search_call':
      return isSearch(item.action) ? 'web_search' : undefined;
    case 'code_interpreter_call':
      return isFirst(item.container_id, containers)
        ? containerName('code_interpreter', tools, 'code_interpreter')
        : undefined;
    case 'shell_call': {
      const { environment } = item;
      if (!isFields(environment) || environment.container_id === undefined) return undefined;
      return isFirst(environment.container_id, containers) ? containerName('shell', tools, 'hosted_shell') : undefined;
    }
    default:
      return billedCall.exec(String(item.type))?.[1];
  }
}

/** Pages that are opened or searched through have no price. Older answers do not say what was done, and only searched. */
function isSearch(action: unknown): boolean {
  return !isFields(action) || action.type === undefined || action.type === 'search';
}

/** A container has one price, however often it is used. */
function isFirst(container: unknown, seen: Set<unknown>): boolean {
  if (seen.has(container)) return false;
  seen.add(container);
  return true;
}

/** The response repeats the tools of the request, and with them the size of their containers. */
function containerName(type: string, tools: unknown, usual: string): string {
  const given = Array.isArray(tools) ? tools.find((tool) => isFields(tool) && tool.type === type) : undefined;
  return (given && containerTool(given)) ?? usual;
}
