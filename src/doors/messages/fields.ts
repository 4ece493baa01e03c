/** What Lodestone does with each field of Anthropic's Messages API, and of its count of tokens. */
import { chatting, type Field, FieldTable, passed, priced, read, refused } from '../field-table.js';
import { aBoolean, anyNumber, anyObject, aText, aTier, numberFrom, objectOf, outputLimit, parsed } from '../rules.js';
import { modelRule } from '../scanned-request.js';
import { conversation, systemPrompt } from './messages.js';
import { stopSequences, toolChoice, tools } from './rules.js';

const older = 'older versions of the API';
const unset = 'As sent. `-1`, which some clients send for "not set", is left out and named.';
const openRouter = 'OpenRouter';
const stored = (why: string): Field => ({ does: 'stored', why, isParsed: true });
const account = (what: string): Field =>
  refused(
    `A header of the API. It would choose ${what} of the operator’s account.`,
    `chooses ${what} of the operator’s account. Leave it out.`,
  );

/** Of `output_config`, as a scan finds it. */
export const hasEffort = 1;
const outputConfig = objectOf({ effort: aText, format: parsed(anyObject) }, true);

/** In the order of the checks. */
export const messagesFields = new FieldTable({
  ...chatting,
  model: { ...read('Replaced by the model of the route.'), rule: modelRule },
  messages: { ...passed('As sent. A `file_id` names what the provider keeps.'), does: 'stored', rule: conversation },
  max_tokens: { ...passed('As sent. Bounds the estimate of the cost.'), rule: outputLimit },
  temperature: { ...passed('As sent.', older), rule: numberFrom(0, 1) },
  top_p: { ...passed(unset, older), rule: numberFrom(0, 1) },
  top_k: { ...passed(unset, older), rule: numberFrom(0, Number.MAX_SAFE_INTEGER) },
  stream: { ...passed('As sent, and read by Lodestone.'), rule: aBoolean },
  service_tier: { ...priced('A tier other than the ordinary one needs a price on the route.'), rule: aTier },
  metadata: { ...passed(), rule: objectOf({ user_id: aText }) },
  thinking: { ...passed(), rule: objectOf({ type: aText, budget_tokens: anyNumber }) },
  output_config: { ...passed(), rule: outputConfig },
  context_management: { ...passed(), rule: anyObject },
  system: { ...passed(), rule: systemPrompt },
  stop_sequences: { ...passed(), rule: stopSequences },
  tools: {
    ...priced(
      'Tools that run at the provider need a price on the route, or are left out where the request does not demand them.',
    ),
    rule: tools,
  },
  tool_choice: { ...passed(), rule: toolChoice },
  output_format: passed(),
  speed: priced('A speed other than `standard` needs a price on the route.'),
  cache_control: passed('As sent. Cache writes have a price of their own.'),
  compaction: passed('As sent. It is billed by its tokens.'),
  diagnostics: passed('As sent. It tells only why a cache was missed.'),
  fallback_credit_token: passed('As sent. The provider takes it only with the same request.'),
  mcp_servers: passed('As sent. It costs tokens only, and the client names the servers and their credentials.'),
  container: stored(
    'An `id` and skills of the type `custom` name what the provider keeps. Skills of the provider are passed.',
  ),
  thread: passed(
    'As sent. Only a route that speaks the API keeps threads. Their ids are known to their own clients alone.',
  ),
  betas: passed('As the header `anthropic-beta`.'),
  user_profile_id: account('a user profile'),
  workspace_id: account('a workspace'),
  safeguards: passed('As sent.', openRouter),
  stop_server_tools_when: passed('As sent. Only bounds tools, which need a price.', openRouter),
  trace: passed('As sent.', openRouter),
  user: passed('As sent.', openRouter),
  prompt_cache_key: { ...read('Names the conversation. As sent.', 'OpenAI'), isParsed: true },
});
