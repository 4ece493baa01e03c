/** What Lodestone does with each field of a chat completions request: OpenAI's, OpenRouter's, and those of others that cost or decide something. */
import { chatting, type Field, FieldTable, passed, priced, read } from '../field-table.js';
import { aBoolean, aCacheKey, anyObject, aTier, numberFrom, parsed } from '../rules.js';
import { modelRule } from '../scanned-request.js';
import { conversation } from './messages.js';
import { aCount, aHint, metadata, stopSequences, streamOptions, tools } from './rules.js';

const openRouter = 'OpenRouter';
const sampling = 'How the model writes; its range is checked.';
const hint: Field = { ...passed('As sent. Left out where a dialect has no place for it.'), rule: aHint };
const needed: Field = { ...passed('Where the route can apply it, else 400.') };

export const chatFields = new FieldTable({
  ...chatting,
  model: { ...read('Replaced by the model of the route.'), rule: modelRule },
  messages: {
    ...passed('As sent. Audio needs a price. A `file_id` or the `id` of audio names what the provider keeps.'),
    does: 'stored',
    rule: conversation,
  },
  stream: { ...read('Written as Lodestone needs it.'), rule: aBoolean },
  stream_options: { ...read('As sent, with `include_usage`.'), rule: streamOptions },
  max_tokens: { ...passed('As sent. Bounds the estimate of the cost.'), rule: aCount },
  max_completion_tokens: { ...passed('As sent. Bounds the estimate of the cost.'), rule: aCount },
  n: { ...needed, rule: aCount },
  response_format: { ...needed, rule: parsed(anyObject) },
  logprobs: { ...needed, rule: aBoolean },
  logit_bias: { ...needed, rule: parsed(anyObject) },
  temperature: { ...passed(sampling), rule: numberFrom(0, 2) },
  top_p: { ...passed(sampling), rule: numberFrom(0, 1) },
  frequency_penalty: { ...passed(sampling), rule: numberFrom(-2, 2) },
  presence_penalty: { ...passed(sampling), rule: numberFrom(-2, 2) },
  stop: { ...passed('As sent, at most 4 texts.'), rule: stopSequences },
  tools: { ...priced('Tools that run at the provider need a price on the route.'), rule: tools },
  web_search_options: priced('A search needs a price on the route.'),
  service_tier: {
    ...priced('A tier other than the ordinary one needs a price on the route.'),
    rule: { scan: aTier.scan },
  },
  speed: { ...priced('A speed other than `standard` needs a price on the route.'), from: 'Anthropic' },
  modalities: priced('Audio in the answer needs a price on the route.'),
  audio: {
    ...passed('As sent. A `voice` with an `id` names what the provider keeps.'),
    does: 'stored',
    isParsed: true,
  },
  extra_body: {
    ...passed('As sent. `google.cached_content` names what the provider keeps.', 'Google'),
    does: 'stored',
    isParsed: true,
  },
  prompt_cache_key: { ...passed('As sent. It also names the conversation.'), rule: { scan: aCacheKey.scan } },
  prompt_cache_options: hint,
  prompt_cache_retention: hint,
  metadata: { ...hint, rule: metadata },
  store: {
    ...hint,
    why: 'As sent. The provider may keep the text for the operator; nobody reads it through Lodestone.',
  },
  user: hint,
  safety_identifier: hint,
  seed: hint,
  prediction: hint,
  verbosity: hint,
  reasoning_effort: hint,
  parallel_tool_calls: hint,
  tool_choice: passed(),
  function_call: passed(),
  functions: passed('As sent. They run at the client.'),
  top_logprobs: passed(),
  moderation: passed('As sent. The provider adds its verdict.'),
  cache_control: passed('As sent. Cache writes have a price of their own.', openRouter),
  debug: passed('As sent.', openRouter),
  image_config: passed('As sent. Images are billed by their tokens.', openRouter),
  min_p: passed('As sent.', openRouter),
  reasoning: passed('As sent.', openRouter),
  repetition_penalty: passed('As sent.', openRouter),
  stop_server_tools_when: passed('As sent. Only bounds tools, which need a price.', openRouter),
  top_a: passed('As sent.', openRouter),
  top_k: { ...passed('As sent.', openRouter), rule: aHint },
  trace: passed('As sent.', openRouter),
});
