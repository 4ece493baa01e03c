/** A scripted upstream for Google's generateContent API: its answers, and a reader of the requests that it receives. */
import { gemini } from '../../src/providers/dialects/gemini/gemini.js';
import { joined } from './answers.js';
import type { DialectFixture, Said, SaidUsage, WriteJson } from './dialect-fixture.js';
import { geminiMeaning } from './gemini-meaning.js';
import { geminiRequests } from './gemini-requests.js';
import { sseChunks } from './sse-chunks.js';

const finishReasons = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP', content_filter: 'SAFETY' };
const named = { modelVersion: 'gemini-2.5-flash', responseId: 'mAitaLmkHPPlz7IPvtfUqQ4' };

/** Figures of 0 are left out, and thoughts are counted apart. */
function usageOf({ prompt, cached, completion, reasoning }: SaidUsage): object {
  const answer = completion - reasoning;
  return {
    promptTokenCount: prompt,
    ...(answer > 0 && { candidatesTokenCount: answer }),
    totalTokenCount: prompt + completion,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  };
}

const callPart = ({ id, name, arguments: pieces }: NonNullable<Said['toolCalls']>[number]) => ({
  functionCall: { id, name, args: JSON.parse(joined(pieces) || '{}') },
});

function whole({ text, reasoning, toolCalls = [], finish, usage }: Said): object {
  const parts = [
    ...(reasoning ? [{ text: joined(reasoning), thought: true }] : []),
    ...(joined(text) === '' ? [] : [{ text: joined(text) }]),
    ...toolCalls.map(callPart),
  ];
  const content = { ...(parts.length > 0 && { parts }), role: 'model' };
  const candidates = [{ content, finishReason: finishReasons[finish], index: 0 }];
  return { candidates, usageMetadata: usageOf(usage), ...named };
}

/** Usage is on every event, and grows; the last one has no more to say than an empty text and the reason to finish. */
function events({ text = [], reasoning = [], toolCalls = [], finish, usage }: Said): object[] {
  const parts: object[] = [
    ...reasoning.map((piece) => ({ text: piece, thought: true })),
    ...text.map((piece) => ({ text: piece })),
    ...toolCalls.map(callPart),
  ];
  const event = (part: object, figures: SaidUsage, ending: object = {}) => ({
    candidates: [{ content: { parts: [part], role: 'model' }, ...ending, index: 0 }],
    usageMetadata: usageOf(figures),
    ...named,
  });
  return [
    ...parts.map((part, at) => event(part, { ...usage, completion: at, reasoning: 0 })),
    event({ text: '' }, usage, { finishReason: finishReasons[finish] }),
  ];
}

const frameOf = (event: object, write: WriteJson): string => `data: ${write(event)}\r\n\r\n`;
const error = (code: number, status: string, message: string) => ({ error: { code, message, status } });
const overloaded = error(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.');

export const geminiFixture: DialectFixture = {
  dialect: 'gemini',
  basePath: '/v1beta',
  upstreamModel: 'gemini-2.5-flash',
  paths: {
    whole: '/v1beta/models/gemini-2.5-flash:generateContent',
    stream: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  },
  requests: geminiRequests,
  lacks: {},
  refuses: ['logit_bias'],
  countsReasoning: true,
  usageComesFirst: true,
  whole,
  streamContentType: 'text/event-stream',
  frames: (said, write) => events(said).map((event) => frameOf(event, write)),
  overloadedFrame: frameOf(overloaded, JSON.stringify),
  errorInside: [overloaded],
  failures: {
    rejected: {
      status: 400,
      body: error(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received. Unknown name "top_z": Cannot find field.'),
    },
    too_long: {
      status: 400,
      body: error(
        400,
        'INVALID_ARGUMENT',
        'The input token count (132478) exceeds the maximum number of tokens allowed (131072).',
      ),
    },
    capacity: { status: 503, body: [overloaded] },
    rate_limit: {
      status: 429,
      body: error(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded for generate_content_requests_per_minute_per_project.'),
    },
    auth: { status: 400, body: error(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.') },
    unknown_model: {
      status: 404,
      body: error(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta.'),
    },
    server_error: { status: 500, body: error(500, 'INTERNAL', 'An internal error has occurred.') },
  },
  meaningOf: geminiMeaning,
  chunksOf: (pieces) => sseChunks(gemini, pieces),
};
