/** Anthropic's Messages API. */
import { jsonObject, type PlaygroundRequest, pictureData, type Turn } from '../request.js';
import {
  type Fields,
  field,
  fieldsOf,
  listOf,
  type PlaygroundDoor,
  present,
  type Reading,
  receiptOf,
  textOf,
  usageOf,
} from './door.js';

/** The API has no default. */
const maxTokensDefault = 1024;

function messagesOf({ role, content, pictures = [], toolCalls = [] }: Turn): Fields[] {
  const blocks = [
    ...(content ? [{ type: 'text', text: content }] : []),
    ...pictures.map((picture) => ({ type: 'image', source: { type: 'base64', ...pictureData(picture) } })),
    ...toolCalls.map((call) => ({
      type: 'tool_use',
      id: call.id,
      name: call.name,
      input: jsonObject(call.arguments),
    })),
  ];
  const results = toolCalls
    .filter(({ result }) => result !== undefined)
    .map(({ id, result }) => ({ type: 'tool_result', tool_use_id: id, content: result }));
  const isPlain = blocks.length === 1 && content !== '';
  return [
    { role, content: isPlain ? content : blocks },
    ...(results.length > 0 ? [{ role: 'user', content: results }] : []),
  ];
}

function body({ model, system, turns, stream, parameters, tools, provider }: PlaygroundRequest): Fields {
  const { temperature, topP, maxTokens, stop } = parameters;
  return {
    model,
    max_tokens: maxTokens ?? maxTokensDefault,
    ...field('system', system),
    messages: turns.flatMap(messagesOf),
    ...field('temperature', temperature),
    ...field('top_p', topP),
    ...field('stop_sequences', stop),
    ...field(
      'tools',
      tools.map(({ parameters: schema, ...tool }) => ({ ...tool, input_schema: schema })),
    ),
    ...field('provider', provider),
    ...(stream && { stream: true }),
  };
}

function readEvent(event: Fields): Reading {
  const key = String(event.index ?? 0);
  const delta = fieldsOf(event.delta);
  if (event.type === 'message_start') return readMessage(fieldsOf(event.message));
  if (event.type === 'content_block_start') {
    const { type, id, name } = fieldsOf(event.content_block);
    return type === 'tool_use' ? { calls: [{ key, id: String(id), name: String(name) }] } : {};
  }
  if (event.type === 'content_block_delta') {
    const json = textOf(delta.partial_json);
    return present<Reading>({
      text: textOf(delta.text),
      reasoning: textOf(delta.thinking),
      calls: json === undefined ? undefined : [{ key, arguments: json }],
    });
  }
  return present<Reading>({
    finishReason: textOf(delta.stop_reason),
    usage: usageOf(event.usage),
    receipt: receiptOf(event.router_metadata),
    error: textOf(fieldsOf(event.error).message),
    isEnd: event.type === 'message_stop' || undefined,
  });
}

function readMessage(message: Fields): Reading {
  const blocks = listOf(message.content);
  const joined = (name: string) => textOf(blocks.map((block) => block[name] ?? '').join(''));
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({
      key: String(id),
      id: String(id),
      name: String(name),
      arguments: JSON.stringify(input),
    }));
  return present<Reading>({
    text: joined('text'),
    reasoning: joined('thinking'),
    calls: calls.length > 0 ? calls : undefined,
    finishReason: textOf(message.stop_reason),
    usage: usageOf(message.usage),
    receipt: receiptOf(message.router_metadata),
  });
}

export const messagesDoor: PlaygroundDoor = {
  name: 'messages',
  label: 'Messages',
  path: '/v1/messages',
  kind: 'chat',
  streams: true,
  input: { label: 'Message', placeholder: 'Ask something' },
  headers: (key) => [`x-api-key: ${key}`],
  body,
  readEvent,
  readAnswer: readMessage,
  python: {
    setUp: (baseUrl, key) => [
      ...(key.startsWith('os.') ? ['import os'] : []),
      'from anthropic import Anthropic',
      '',
      `client = Anthropic(base_url=${JSON.stringify(baseUrl)}, api_key=${key})`,
    ],
    call: 'client.messages.create',
    print: (stream) =>
      stream
        ? [
            'for event in answer:',
            '    if event.type == "content_block_delta" and event.delta.type == "text_delta":',
            '        print(event.delta.text, end="")',
          ]
        : ['print("".join(block.text for block in answer.content if block.type == "text"))'],
  },
  typescript: {
    setUp: (baseUrl, key) => [
      "import Anthropic from '@anthropic-ai/sdk';",
      '',
      'const client = new Anthropic({',
      `  baseURL: ${JSON.stringify(baseUrl)},`,
      `  apiKey: ${key},`,
      '});',
    ],
    call: 'client.messages.create',
    print: (stream) =>
      stream
        ? [
            'for await (const event of answer) {',
            "  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') process.stdout.write(event.delta.text);",
            '}',
          ]
        : ["console.log(answer.content.map((block) => (block.type === 'text' ? block.text : '')).join(''));"],
  },
};
