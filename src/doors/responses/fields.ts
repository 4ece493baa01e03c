/** What Lodestone does with each field of OpenAI's Responses API: a request, a conversation to compact, and a message on a WebSocket. */
import { chatting, type Field, FieldTable, passed, priced, read, refused } from '../field-table.js';
import {
  aBoolean,
  aCacheKey,
  anyObject,
  aText,
  aTier,
  numberFrom,
  objectOf,
  outputLimit,
  usuallyFalse,
} from '../rules.js';
import { modelRule } from '../scanned-request.js';
import { input } from './input.js';
import { included, textFormat, toolCallLimit, toolChoice, tools } from './rules.js';

const whole = 'Send the whole conversation in `input`.';
const stored = 'Lodestone stores no responses';
const needsMemory = (what: string, asks?: (value: unknown) => boolean): Field =>
  refused(`${stored}.`, `${what} ${whole}`, asks && { asks });
const isOn = (value: unknown): boolean => value === true;
const socket = 'the WebSocket';
const openRouter = 'OpenRouter';

/** In the order of the checks. */
export const responsesFields = new FieldTable({
  ...chatting,
  model: { ...read('Replaced by the model of the route.'), rule: modelRule },
  input: {
    ...passed('As sent. A `file_id` names what the provider keeps. An `item_reference` is refused.'),
    does: 'stored',
    rule: input,
  },
  max_output_tokens: { ...passed('As sent. Bounds the estimate of the cost.'), rule: outputLimit },
  temperature: { ...passed(), rule: numberFrom(0, 2) },
  top_p: { ...passed(), rule: numberFrom(0, 1) },
  stream: { ...passed('As sent, and read by Lodestone. On a WebSocket always true.'), rule: aBoolean },
  store: {
    ...needsMemory(`is true, but ${stored}. Leave it out, or send false.`, isOn),
    why: '`true` is refused, because Lodestone stores no responses; else `false` is sent.',
    rule: usuallyFalse,
  },
  background: { ...needsMemory(`is true, but ${stored} to fetch later.`, isOn), rule: usuallyFalse },
  parallel_tool_calls: { ...passed(), rule: aBoolean },
  instructions: { ...passed(), rule: aText },
  reasoning: { ...passed(), rule: objectOf({ effort: aText, summary: aText }, true) },
  text: { ...passed(), rule: objectOf({ verbosity: aText, format: textFormat }, true) },
  metadata: { ...passed(), rule: anyObject },
  service_tier: { ...priced('A tier other than the ordinary one needs a price on the route.'), rule: aTier },
  truncation: { ...passed(), rule: aText },
  user: { ...passed(), rule: aText },
  safety_identifier: { ...passed(), rule: aText },
  prompt_cache_key: { ...passed('As sent. It also names the conversation.'), rule: aCacheKey },
  max_tool_calls: { ...passed(), rule: toolCallLimit },
  include: { ...passed(), rule: included },
  tools: {
    ...priced(
      'Tools that run at the provider need a price on the route, or are left out where the request does not demand them. Ids of files, containers and vector stores name what it keeps.',
    ),
    does: 'stored',
    rule: tools,
  },
  tool_choice: { ...passed(), rule: toolChoice },
  previous_response_id: {
    ...needsMemory(`refers to a stored response, but ${stored}.`),
    why: 'Lodestone stores no responses. On a WebSocket it may name the last one.',
  },
  conversation: needsMemory(`refers to a stored response, but ${stored}.`),
  stream_options: passed(),
  speed: { ...priced('A speed other than `standard` needs a price on the route.'), from: 'Anthropic' },
  top_logprobs: passed(),
  context_management: passed(),
  moderation: passed('As sent. The provider adds its verdict.'),
  prompt: {
    ...passed('As sent. Names a prompt of the operator’s account; `input` may then be left out.'),
    isParsed: true,
  },
  prompt_cache_options: passed(),
  prompt_cache_retention: passed(),
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
