/** The client APIs besides chat completions: how the load asks through each, and how a provider that speaks it answers. */

const sentence = 'A breaker lets one probe through after its pause; when that one is answered, it closes again. ';
const words = (count) => Array.from({ length: count }, (_, i) => ` word${i}`);

/** `chat` is the body of a chat request. */
function messagesRequest({ messages, temperature, max_tokens, model, stream }) {
  const [{ content: system }, ...rest] = messages;
  return { model, max_tokens, temperature, system, messages: rest, ...(stream && { stream }) };
}

function responsesRequest({ messages, temperature, max_tokens, model, stream }) {
  const [{ content: instructions }, ...input] = messages;
  return { model, max_output_tokens: max_tokens, temperature, instructions, input, ...(stream && { stream }) };
}

const message = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'gpt-4o-mini', stop_sequence: null };
const used = { input_tokens: 120, output_tokens: 100 };

function messageEvents(count) {
  const usage = { ...used, output_tokens: 1 };
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...words(count).map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 100 } },
    { type: 'message_stop' },
  ];
}

const response = {
  id: 'resp_bench',
  object: 'response',
  created_at: 1_700_000_000,
  model: 'gpt-4o-mini',
  store: false,
};
const total = { ...used, total_tokens: 220 };

function responseItem(text) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { id: 'msg_bench', type: 'message', role: 'assistant', status: 'completed', content };
}

function responseEvents(count) {
  const place = { item_id: 'msg_bench', output_index: 0, content_index: 0 };
  const text = words(count).join('');
  const item = { ...responseItem(''), content: [] };
  const done = { ...response, status: 'completed', output: [responseItem(text)], usage: total };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...place, part: responseItem('').content[0] },
    ...words(count).map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
    { type: 'response.output_text.done', ...place, text },
    { type: 'response.output_item.done', output_index: 0, item: responseItem(text) },
    { type: 'response.completed', response: done },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}

export const doors = {
  messages: {
    path: '/v1/messages',
    request: messagesRequest,
    answer: { ...message, content: [{ type: 'text', text: sentence.repeat(4) }], stop_reason: 'end_turn', usage: used },
    events: messageEvents,
  },
  responses: {
    path: '/v1/responses',
    request: responsesRequest,
    answer: { ...response, status: 'completed', output: [responseItem(sentence.repeat(4))], usage: total },
    events: responseEvents,
  },
};
