/** What Lodestone does with each field of OpenAI's Responses API: a request, a conversation to compact, and a message on a WebSocket. */
import { chatting, type Field, FieldTable, passed, priced, read, refused } from '../field-table.js';

const whole = 'Send the whole conversation in `input`.';
const stored = 'Lodestone stores no responses';
const needsMemory = (what: string, asks?: (value: unknown) => boolean): Field =>
  refused(`${stored}.`, `${what} ${whole}`, asks && { asks });
const isOn = (value: unknown): boolean => value === true;
const socket = 'the WebSocket';
const openRouter = 'OpenRouter';

export const responsesFields = new FieldTable({
  ...chatting,
  model: read('Replaced by the model of the route.'),
  input: {
    ...passed('As sent. A `file_id` names what the provider keeps. An `item_reference` is refused.'),
    does: 'stored',
  },
  store: {
    ...needsMemory(`is true, but ${stored}. Leave it out, or send false.`, isOn),
    why: '`true` is refused, because Lodestone stores no responses; else `false` is sent.',
  },
  previous_response_id: {
    ...needsMemory(`refers to a stored response, but ${stored}.`),
    why: 'Lodestone stores no responses. On a WebSocket it may name the last one.',
  },
  conversation: needsMemory(`refers to a stored response, but ${stored}.`),
  background: needsMemory(`is true, but ${stored} to fetch later.`, isOn),
  instructions: passed(),
  stream: passed('As sent, and read by Lodestone. On a WebSocket always true.'),
  stream_options: passed(),
  include: passed(),
  max_output_tokens: passed('As sent. Bounds the estimate of the cost.'),
  max_tool_calls: passed(),
  tools: {
    ...priced(
      'Tools that run at the provider need a price on the route, or are left out where the request does not demand them. Ids of files, containers and vector stores name what it keeps.',
    ),
    does: 'stored',
  },
  service_tier: priced('A tier other than the ordinary one needs a price on the route.'),
  speed: { ...priced('A speed other than `standard` needs a price on the route.'), from: 'Anthropic' },
  tool_choice: passed(),
  parallel_tool_calls: passed(),
  text: passed(),
  reasoning: passed(),
  temperature: passed(),
  top_p: passed(),
  top_logprobs: passed(),
  truncation: passed(),
  context_management: passed(),
  metadata: passed(),
  moderation: passed('As sent. The provider adds its verdict.'),
  prompt: {
    ...passed('As sent. Names a prompt of the operator’s account; `input` may then be left out.'),
    isParsed: true,
  },
  prompt_cache_key: passed('As sent. It also names the conversation.'),
  prompt_cache_options: passed(),
  prompt_cache_retention: passed(),
  safety_identifier: passed(),
  user: passed(),
  modalities: { ...priced('Audio in the answer needs a price on the route.'), from: openRouter },
  cache_control: passed('As sent. Cache writes have a price of their own.', openRouter),
  debug: passed('As sent.', openRouter),
  image_config: passed('As sent. Images are billed by their tokens.', openRouter),
  frequency_penalty: passed('As sent.', openRouter),
  presence_penalty: passed('As sent.', openRouter),
  stop_server_tools_when: passed('As sent. Only bounds tools, which need a price.', openRouter),
  top_k: passed('As sent.', openRouter),
  trace: passed('As sent.', openRouter),
  client_metadata: passed('As sent.', 'Codex'),
  type: read('What the message is.', socket),
  generate: read('`false` is refused: nothing is prepared ahead.', socket),
  stream_id: read('Refused: one response at a time.', socket),
});
