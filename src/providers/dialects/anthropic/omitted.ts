/** What Anthropic's API, and Bedrock for Claude, leave out of a chat request. */
import type { ChatRequest } from '../../../wire/chat-request.js';
import { bitsOf, partialBits } from '../../../wire/partial-fields.js';
import type { Target } from '../dialect.js';
import { claudeTraits } from './claude.js';

type Asked = Pick<ChatRequest, 'partial'>;

/** Fields that the Messages API has no place for. */
const withoutPlace = bitsOf([
  ...['seed', 'frequency_penalty', 'presence_penalty', 'store', 'metadata', 'prediction', 'verbosity'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'highTemperature', 'blankMessages'],
]);

export function omittedByMessages(
  asked: Asked,
  target: Pick<Target, 'upstreamModel' | 'unsupportedParameters'>,
): number {
  return withoutPlace | secondNames(asked) | omittedByClaude(asked, target);
}

/** One of three fields names the user: the first of them. */
function secondNames({ partial = 0 }: Asked): number {
  const { safety_identifier: first, user: second, metadataUser: third } = partialBits;
  return ((partial & first) !== 0 ? second : 0) | ((partial & (first | second)) !== 0 ? third : 0);
}

/** What the version of a model does not take, where the catalogue does not say. */
export function omittedByClaude(
  { partial = 0 }: Asked,
  { upstreamModel, unsupportedParameters }: Pick<Target, 'upstreamModel' | 'unsupportedParameters'>,
): number {
  const { unsupported, samplesByOne } = claudeTraits(upstreamModel);
  const refused = unsupportedParameters === undefined ? bitsOf(unsupported) : 0;
  return refused | (samplesByOne && (partial & partialBits.temperature) !== 0 ? partialBits.top_p : 0);
}
