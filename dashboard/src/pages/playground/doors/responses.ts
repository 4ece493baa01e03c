/** OpenAI's Responses API. */
import type { PlaygroundRequest, Turn } from '../request.js';
import {
  bearer,
  type Fields,
  field,
  fieldsOf,
  listOf,
  openaiClients,
  type PlaygroundDoor,
  present,
  type Reading,
  receiptOf,
  textOf,
  usageOf,
} from './door.js';

function itemsOf({ role, content, pictures = [], toolCalls = [] }: Turn): Fields[] {
  const parts = [
    ...(content ? [{ type: 'input_text', text: content }] : []),
    ...pictures.map(({ url }) => ({ type: 'input_image', image_url: url })),
  ];
  const calls = toolCalls.map((call) => ({
    type: 'function_call',
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
  }));
  const results = toolCalls
    .filter(({ result }) => result !== undefined)
    .map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result }));
  const own = content || pictures.length > 0 ? [{ role, content: pictures.length > 0 ? parts : content }] : [];
  return [...own, ...calls, ...results];
}

function body({ model, system, turns, stream, parameters, tools, provider }: PlaygroundRequest): Fields {
  const { temperature, topP, maxTokens } = parameters;
  const items = turns.flatMap(itemsOf);
  const [only] = items;
  return {
    model,
    ...field('instructions', system),
    // One plain message is sent as text, as most programs do.
    input: items.length === 1 && typeof only?.content === 'string' ? only.content : items,
    ...field('temperature', temperature),
    ...field('top_p', topP),
    ...field('max_output_tokens', maxTokens),
    ...field(
      'tools',
      tools.map((tool) => ({ type: 'function', ...tool })),
    ),
    ...field('provider', provider),
    ...(stream && { stream: true }),
  };
}

const deltas: Record<string, 'text' | 'reasoning'> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'text',
  'response.reasoning_text.delta': 'reasoning',
  'response.reasoning_summary_text.delta': 'reasoning',
};
const endings = ['response.completed', 'response.incomplete', 'response.failed'];

function readEvent(event: Fields): Reading {
  const type = String(event.type);
  const delta = textOf(event.delta);
  const kind = deltas[type];
  if (kind) return delta === undefined ? {} : { [kind]: delta };
  const key = String(event.output_index ?? 0);
  if (type === 'response.function_call_arguments.delta') return { calls: [{ key, arguments: delta ?? '' }] };
  if (type === 'response.output_item.added') {
    const item = fieldsOf(event.item);
    return item.type === 'function_call' ? { calls: [{ key, id: String(item.call_id), name: String(item.name) }] } : {};
  }
  if (type === 'error') return present<Reading>({ error: textOf(event.message) });
  if (type !== 'response.created' && !endings.includes(type)) return {};
  const response = fieldsOf(event.response);
  return present<Reading>({
    ...stateOf(response),
    finishReason: endings.includes(type) ? stateOf(response).finishReason : undefined,
    isEnd: endings.includes(type) || undefined,
  });
}

/** All but the text, which the deltas brought. */
function stateOf(response: Fields): Reading {
  return present<Reading>({
    finishReason: textOf(fieldsOf(response.incomplete_details).reason) ?? textOf(response.status),
    usage: usageOf(response.usage),
    receipt: receiptOf(response.router_metadata),
    error: textOf(fieldsOf(response.error).message),
  });
}

function readAnswer(response: Fields): Reading {
  const items = listOf(response.output);
  const parts = items.flatMap((item) => listOf(item.content));
  const texts = (type: string) => textOf(parts.map((part) => (part.type === type ? part.text : '')).join(''));
  const calls = items
    .filter(({ type }) => type === 'function_call')
    .map((item) => ({
      key: String(item.call_id),
      id: String(item.call_id),
      name: String(item.name),
      arguments: String(item.arguments),
    }));
  return present<Reading>({
    ...stateOf(response),
    text: texts('output_text'),
    reasoning: texts('reasoning_text'),
    calls: calls.length > 0 ? calls : undefined,
  });
}

export const responsesDoor: PlaygroundDoor = {
  name: 'responses',
  label: 'Responses',
  path: '/v1/responses',
  kind: 'chat',
  streams: true,
  input: { label: 'Message', placeholder: 'Ask something' },
  headers: bearer,
  body,
  readEvent,
  readAnswer,
  ...openaiClients('responses.create', {
    python: (stream) =>
      stream
        ? [
            'for event in answer:',
            '    if event.type == "response.output_text.delta":',
            '        print(event.delta, end="")',
          ]
        : ['print(answer.output_text)'],
    typescript: (stream) =>
      stream
        ? [
            'for await (const event of answer) {',
            "  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta);",
            '}',
          ]
        : ['console.log(answer.output_text);'],
  }),
};
