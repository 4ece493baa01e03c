/** One answer as it comes, whole and as a stream, for the reference to show. */
import type { Example } from '../types.js';

const identity = {
  id: 'gen-01k9zw3v8fq2t6hm4x7n5r1bdc',
  created: 1_762_000_000,
  model: 'sandbox-spare/lodestone/failover/global',
};

const usage = { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9, cost: 0 };

const metadata = {
  requested_model: 'auto/lodestone/failover',
  served_model: 'sandbox-spare/lodestone/failover/global',
  provider: 'sandbox-spare',
  creator: 'lodestone',
  model: 'failover',
  locode: 'global',
  country: null,
  providers_attempted: ['sandbox', 'sandbox-spare'],
  fallback_occurred: true,
  breaker_skipped: [],
  alias: null,
  carbon: 500,
  cloud_act: false,
};

export const answerExamples: Record<string, Example> = {
  answer: {
    summary: 'The first route failed, the second served',
    value: {
      ...identity,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage,
      router_metadata: metadata,
    },
  },
};

const chunk = (delta: object, finish_reason: string | null, more: object = {}) =>
  `data: ${JSON.stringify({
    ...identity,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  })}\n\n`;

export const streamExamples: Record<string, Example> = {
  stream: {
    summary: 'Two frames and the end',
    value:
      chunk({ role: 'assistant', content: 'Hello' }, null, { router_metadata: metadata }) +
      chunk({}, 'stop', { router_metadata: { ...metadata, stream_end: 'complete' } }) +
      'data: [DONE]\n\n',
  },
};
