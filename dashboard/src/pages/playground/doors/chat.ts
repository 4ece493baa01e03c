/** OpenAI's chat completions. */
import type { PlaygroundRequest, Turn } from '../request.js';
import {
  bearer,
  type CallPiece,
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

function messagesOf({ role, content, pictures = [], toolCalls = [] }: Turn): Fields[] {
  const parts = [
    ...(content ? [{ type: 'text', text: content }] : []),
    ...pictures.map(({ url }) => ({ type: 'image_url', image_url: { url } })),
  ];
  const calls = toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  const results = toolCalls
    .filter(({ result }) => result !== undefined)
    .map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result }));
  // A turn that only holds the results of the calls before it has no message of its own.
  const own = { role, content: pictures.length > 0 ? parts : content, ...field('tool_calls', calls) };
  return [own, ...results];
}

function body({ model, system, turns, stream, parameters, tools, provider }: PlaygroundRequest): Fields {
  const { temperature, topP, maxTokens, seed, stop } = parameters;
  return {
    model,
    messages: [...(system ? [{ role: 'system', content: system }] : []), ...turns.flatMap(messagesOf)],
    ...field('temperature', temperature),
    ...field('top_p', topP),
    ...field('max_tokens', maxTokens),
    ...field('seed', seed),
    ...field('stop', stop),
    ...field(
      'tools',
      tools.map((tool) => ({ type: 'function', function: tool })),
    ),
    ...field('provider', provider),
    ...(stream && { stream: true }),
  };
}

function read(frame: Fields, part: 'delta' | 'message'): Reading {
  const [choice = {}] = listOf(frame.choices);
  const message = fieldsOf(choice[part]);
  const calls = listOf(message.tool_calls).map((call, index) => {
    const { name, arguments: json } = fieldsOf(call.function);
    return present<CallPiece>({
      key: String(call.index ?? index),
      id: textOf(call.id),
      name: textOf(name),
      arguments: textOf(json),
    });
  });
  return present<Reading>({
    text: textOf(message.content),
    reasoning: textOf(message.reasoning_content) ?? textOf(message.reasoning),
    calls: calls.length > 0 ? calls : undefined,
    finishReason: textOf(choice.finish_reason),
    usage: usageOf(frame.usage),
    receipt: receiptOf(frame.router_metadata),
    error: textOf(fieldsOf(frame.error).message),
  });
}

export const chatDoor: PlaygroundDoor = {
  name: 'chat',
  label: 'Chat completions',
  path: '/v1/chat/completions',
  kind: 'chat',
  streams: true,
  input: { label: 'Message', placeholder: 'Ask something' },
  headers: bearer,
  body,
  streamFields: { stream_options: { include_usage: true } },
  readEvent: (event) => read(event, 'delta'),
  readAnswer: (answer) => read(answer, 'message'),
  ...openaiClients('chat.completions.create', {
    python: (stream) =>
      stream
        ? [
            'for chunk in answer:',
            '    if chunk.choices:',
            '        print(chunk.choices[0].delta.content or "", end="")',
          ]
        : ['print(answer.choices[0].message.content)'],
    typescript: (stream) =>
      stream
        ? ["for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');"]
        : ['console.log(answer.choices[0].message.content);'],
  }),
};
