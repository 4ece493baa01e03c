/** What Lodestone does with each field of Anthropic's Messages API, and of its count of tokens. */
import { chatting, type Field, FieldTable, passed, priced, read, refused } from '../field-table.js';

const older = 'older versions of the API';
const unset = 'As sent. `-1`, which some clients send for "not set", is left out and named.';
const openRouter = 'OpenRouter';
const stored = (why: string): Field => ({ does: 'stored', why, isParsed: true });
const account = (what: string): Field =>
  refused(
    `A header of the API. It would choose ${what} of the operator’s account.`,
    `chooses ${what} of the operator’s account. Leave it out.`,
  );

export const messagesFields = new FieldTable({
  ...chatting,
  model: read('Replaced by the model of the route.'),
  messages: { ...passed('As sent. A `file_id` names what the provider keeps.'), does: 'stored' },
  max_tokens: passed('As sent. Bounds the estimate of the cost.'),
  stream: passed('As sent, and read by Lodestone.'),
  system: passed(),
  stop_sequences: passed(),
  temperature: passed('As sent.', older),
  top_p: passed(unset, older),
  top_k: passed(unset, older),
  thinking: passed(),
  output_config: passed(),
  output_format: passed(),
  tool_choice: passed(),
  metadata: passed(),
  tools: priced(
    'Tools that run at the provider need a price on the route, or are left out where the request does not demand them.',
  ),
  service_tier: priced('A tier other than the ordinary one needs a price on the route.'),
  speed: priced('A speed other than `standard` needs a price on the route.'),
  cache_control: passed('As sent. Cache writes have a price of their own.'),
  context_management: passed(),
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
  prompt_cache_key: read('Names the conversation. As sent.', 'OpenAI'),
});
