/** A scripted upstream for Azure OpenAI: OpenAI's shapes, with the additions of Azure's content filter. */
import { azure } from '../../src/providers/dialects/azure/azure.js';
import { chunk } from '../support/scripted-upstream.js';
import type { DialectFixture, Said, WriteJson } from './dialect-fixture.js';
import { meaningOfOpenAi } from './meaning.js';
import { openAiDeltas, openAiFailures, openAiUsage, openAiWhole, sameRequests } from './openai.js';
import { sseChunks } from './sse-chunks.js';

const safe = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } };
const promptFilter = {
  choices: [],
  created: 0,
  id: '',
  model: '',
  object: '',
  prompt_filter_results: [{ prompt_index: 0, content_filter_results: safe }],
};
/** Comes when the filter is asynchronous: findings about text that has gone out already, and no `delta`. */
const findings = {
  id: '',
  object: '',
  created: 0,
  model: '',
  choices: [
    {
      index: 0,
      finish_reason: null,
      content_filter_results: safe,
      content_filter_offsets: { check_offset: 44, start_offset: 44, end_offset: 198 },
    },
  ],
};

function frames(said: Said, write: WriteJson): string[] {
  const last = chunk({ delta: {}, finishReason: said.finish });
  return [
    promptFilter,
    ...openAiDeltas(said).map((delta) =>
      chunk({ choices: [{ content_filter_results: safe, delta, finish_reason: null, index: 0, logprobs: null }] }),
    ),
    findings,
    last,
    findings,
    chunk({ choices: [], usage: openAiUsage(said.usage) }),
  ]
    .map((frame) => `data: ${write(frame)}\n\n`)
    .concat('data: [DONE]\n\n');
}

const busy = {
  error: { code: 'InternalServerError', message: 'The service is temporarily overloaded. Try again later.' },
};

export const azureFixture: DialectFixture = {
  dialect: 'azure',
  basePath: '/openai/deployments',
  upstreamModel: 'my-deployment',
  paths: {
    whole: '/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21',
    stream: '/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21',
  },
  requests: sameRequests('my-deployment'),
  lacks: {},
  refuses: [],
  countsReasoning: true,
  whole: (said) => ({
    ...openAiWhole(said),
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: safe }],
  }),
  streamContentType: 'text/event-stream; charset=utf-8',
  frames,
  overloadedFrame: `data: ${JSON.stringify(busy)}\n\n`,
  errorInside: busy,
  failures: {
    ...openAiFailures,
    rejected: {
      status: 400,
      body: {
        error: {
          message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          type: null,
          param: 'prompt',
          code: 'content_filter',
          status: 400,
          innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: { hate: { filtered: true } } },
        },
      },
    },
    rate_limit: {
      status: 429,
      body: { error: { code: '429', message: 'Requests have exceeded the token rate limit. Retry after 6 seconds.' } },
      headers: { 'retry-after': '6' },
    },
    auth: { status: 401, body: { statusCode: 401, message: 'Access denied due to invalid subscription key.' } },
    unknown_model: {
      status: 404,
      body: { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
    },
  },
  meaningOf: meaningOfOpenAi,
  chunksOf: (pieces) => sseChunks(azure, pieces),
};
