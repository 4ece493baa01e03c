/**
 * Turns a chat request into spans by OpenTelemetry's conventions for generative AI: one of kind SERVER for the request and,
 * below it, one of kind CLIENT for each attempt. They are made when the request has ended, from the times that it recorded,
 * so nothing is paid before.
 */
import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Route } from '../../catalogue/route.js';
import type { AskedChat, ChatAttempt, EndedChat, ServedChat } from './ended-chat.js';

export function writeSpans(tracer: Tracer, chat: EndedChat): void {
  const request = requestSpan(tracer, chat);
  if (request.isRecording()) {
    const within = trace.setSpan(ROOT_CONTEXT, request);
    for (const attempt of chat.attempts) attemptSpan(tracer, within, attempt, chat.door.operation);
  }
  request.end(chat.endedAt);
}

function requestSpan(tracer: Tracer, chat: EndedChat): Span {
  const { asked, served, status, errorCode } = chat;
  const { name, path, operation } = chat.door;
  const attributes: Attributes = {
    'gen_ai.operation.name': operation,
    'lodestone.door': name,
    'http.request.method': 'POST',
    'http.route': path,
    'url.path': path,
    'http.response.status_code': status,
    'lodestone.request_id': chat.requestId,
    ...(errorCode !== null && { 'error.type': errorCode }),
    ...(asked && askedAttributes(asked)),
    ...(served && servedAttributes(served)),
  };
  const options = { kind: SpanKind.SERVER, attributes, startTime: chat.startedAt };
  const span = tracer.startSpan(asked ? `${operation} ${asked.model}` : operation, options, callersContext(chat));
  // By the HTTP conventions a 4xx is no error of the server.
  if (status >= 500 || chat.broken) span.setStatus({ code: SpanStatusCode.ERROR });
  return span;
}

function askedAttributes({ model, stream, generationId, providersAttempted, breakerSkipped }: AskedChat): Attributes {
  return {
    'gen_ai.request.model': model,
    'gen_ai.request.stream': stream,
    'gen_ai.response.id': generationId,
    'lodestone.providers_attempted': [...providersAttempted],
    ...(breakerSkipped.length > 0 && { 'lodestone.breaker_skipped': [...breakerSkipped] }),
  };
}

function servedAttributes(served: ServedChat): Attributes {
  const { route, usage, finishReason, streamEnd } = served;
  return {
    'gen_ai.provider.name': providerName(route),
    'gen_ai.response.model': route.id,
    'gen_ai.response.time_to_first_chunk': served.firstByteSeconds,
    ...(finishReason !== null && { 'gen_ai.response.finish_reasons': [finishReason] }),
    ...(usage && {
      'gen_ai.usage.input_tokens': usage.promptTokens,
      'gen_ai.usage.output_tokens': usage.completionTokens,
      'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
      'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    }),
    'lodestone.provider': route.provider.id,
    'lodestone.locode': route.locode,
    'lodestone.fallback_occurred': served.fallback,
    'lodestone.cost_usd': served.costUsd,
    'lodestone.overhead_seconds': served.overheadSeconds,
    ...(streamEnd !== null && { 'lodestone.stream_end': streamEnd }),
  };
}

function attemptSpan(tracer: Tracer, within: Context, attempt: ChatAttempt, operation: string): void {
  const { route, outcome, status, firstByteSeconds } = attempt;
  const failed = outcome !== 'served';
  const attributes: Attributes = {
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': providerName(route),
    'gen_ai.request.model': route.upstreamModel,
    ...addressOf(route),
    ...(status !== null && { 'http.response.status_code': status }),
    ...(firstByteSeconds !== null && { 'gen_ai.response.time_to_first_chunk': firstByteSeconds }),
    ...(failed && { 'error.type': outcome }),
    'lodestone.route': route.id,
    'lodestone.locode': route.locode,
  };
  const options = { kind: SpanKind.CLIENT, attributes, startTime: attempt.startedAt };
  const span = tracer.startSpan(`${operation} ${route.upstreamModel}`, options, within);
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(attempt.endedAt);
}

/** A request that came with a trace continues it. */
function callersContext({ traceparent, tracestate }: EndedChat): Context {
  const parent = readTraceParent(traceparent);
  if (!parent) return ROOT_CONTEXT;
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, ...state, isRemote: true });
}

/** The conventions' own names where they have one, else the catalogue's id. */
const namesByDialect: Record<string, string> = {
  anthropic: 'anthropic',
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
};
const namesById: Record<string, string> = {
  gemini: 'gcp.gemini',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
};

function providerName({ provider: { id, dialect } }: Route): string {
  return namesByDialect[dialect] ?? namesById[id] ?? id;
}

const addresses = new WeakMap<Route, Attributes>();

function addressOf(route: Route): Attributes {
  const known = addresses.get(route);
  if (known) return known;
  const attributes = URL.canParse(route.baseUrl) ? attributesOf(new URL(route.baseUrl)) : {};
  addresses.set(route, attributes);
  return attributes;
}

function attributesOf({ hostname, port, protocol }: URL): Attributes {
  return { 'server.address': hostname, 'server.port': Number(port || (protocol === 'https:' ? 443 : 80)) };
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** The W3C header `traceparent` (https://www.w3.org/TR/trace-context/): the trace that a request belongs to. */
interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** null where there is no header, or an invalid one: the request then begins a trace of its own. */
export function readTraceParent(header: string | undefined): TraceParent | null {
  const match = header === undefined ? null : form.exec(header.trim());
  if (!match) return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = match;
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (traceId === noTrace || spanId === noSpan) return null;
  // Later versions may give the other bits a meaning; now only `sampled` has one.
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}
