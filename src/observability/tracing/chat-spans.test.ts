import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import * as sdk from '@opentelemetry/sdk-trace';
import { AlwaysOnSampler, InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { beforeEach, describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { writeSpans } from './chat-spans.js';
import type { EndedChat } from './ended-chat.js';
import { samplerOf } from './span-export.js';

const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const other = smallSnapshot().routes.get('zeta/meta/llama/global')!;
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

const served: EndedChat = {
  traceparent: undefined,
  tracestate: undefined,
  requestId: 'req-1',
  door: { name: 'chat', path: '/v1/chat/completions', operation: 'chat' },
  startedAt: 1_700_000_000_000.25,
  endedAt: 1_700_000_000_900.5,
  status: 200,
  broken: false,
  errorCode: null,
  asked: {
    model: 'auto/meta/llama',
    stream: true,
    generationId: 'gen-1',
    providersAttempted: ['zeta', 'acme'],
    breakerSkipped: [],
  },
  served: {
    route,
    usage: { promptTokens: 10, completionTokens: 5, cachedTokens: 2, reasoningTokens: 1 },
    costUsd: 0.00001,
    finishReason: 'stop',
    streamEnd: 'complete',
    fallback: true,
    firstByteSeconds: 0.4,
    overheadSeconds: 0.001,
  },
  attempts: [
    {
      ...{ route: other, startedAt: 1_700_000_000_001, endedAt: 1_700_000_000_100 },
      ...{ outcome: 'timeout', status: null, firstByteSeconds: null },
    },
    {
      ...{ route, startedAt: 1_700_000_000_101, endedAt: 1_700_000_000_900 },
      ...{ outcome: 'served', status: 200, firstByteSeconds: 0.3 },
    },
  ],
};

let exporter: InMemorySpanExporter;
beforeEach(() => {
  exporter = new InMemorySpanExporter();
});

function spansOf(chat: EndedChat, sampler: sdk.Sampler = new AlwaysOnSampler()) {
  const provider = new TracerProvider({ sampler, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  writeSpans(provider.getTracer('test'), chat);
  return exporter.getFinishedSpans();
}

describe('a chat request as spans (GenAI semantic conventions)', () => {
  it('is one SERVER span, and under it one CLIENT span an attempt, with the times that were noted', () => {
    const [first, second, request] = spansOf(served);
    expect(request).toMatchObject({
      name: 'chat auto/meta/llama',
      kind: SpanKind.SERVER,
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'lodestone.door': 'chat',
        'gen_ai.provider.name': 'acme',
        'gen_ai.request.model': 'auto/meta/llama',
        'gen_ai.request.stream': true,
        'gen_ai.response.model': 'acme/meta/llama/defra',
        'gen_ai.response.id': 'gen-1',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.response.time_to_first_chunk': 0.4,
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 5,
        'gen_ai.usage.cache_read.input_tokens': 2,
        'http.response.status_code': 200,
        'lodestone.request_id': 'req-1',
        'lodestone.locode': 'defra',
        'lodestone.fallback_occurred': true,
        'lodestone.cost_usd': 0.00001,
        'lodestone.providers_attempted': ['zeta', 'acme'],
        'lodestone.stream_end': 'complete',
      },
    });
    expect(first).toMatchObject({
      name: 'chat llama',
      kind: SpanKind.CLIENT,
      status: { code: SpanStatusCode.ERROR },
      attributes: {
        'error.type': 'timeout',
        'gen_ai.provider.name': 'zeta',
        'gen_ai.request.model': 'llama',
        'lodestone.route': 'zeta/meta/llama/global',
        'server.address': '127.0.0.1',
        'server.port': 9,
      },
      parentSpanContext: { spanId: request!.spanContext().spanId },
    });
    expect(second).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { 'http.response.status_code': 200, 'gen_ai.response.time_to_first_chunk': 0.3 },
    });
    expect(second!.attributes['error.type']).toBeUndefined();
    expect(new Set([first, second, request].map((span) => span!.spanContext().traceId)).size).toBe(1);
    expect(request!.startTime).toEqual([1_700_000_000, expect.closeTo(250_000, -4)]);
    expect(request!.duration[1] / 1e6).toBeCloseTo(900.25, 1);
  });

  it('goes on in the caller’s trace', () => {
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const request = spansOf({ ...served, traceparent, tracestate: 'vendor=1' }).at(-1)!;
    expect(request.spanContext().traceId).toBe(traceId);
    expect(request.parentSpanContext).toMatchObject({ spanId: '00f067aa0ba902b7', isRemote: true });
    expect(request.spanContext().traceState?.serialize()).toBe('vendor=1');
  });

  it.each([
    [503, 'provider_error', false, SpanStatusCode.ERROR],
    [429, 'rate_limit_exceeded', false, SpanStatusCode.UNSET],
    [200, 'cost_unresolvable', true, SpanStatusCode.ERROR],
  ])('a %i with %s has its code as error.type', (status, errorCode, broken, code) => {
    const chat = { ...served, served: null, attempts: [], asked: null, status, errorCode, broken };
    const [span] = spansOf(chat);
    expect(span).toMatchObject({ name: 'chat', status: { code }, attributes: { 'error.type': errorCode } });
    expect(span!.attributes['gen_ai.request.model']).toBeUndefined();
  });
});

describe('OTEL_TRACES_SAMPLER', () => {
  const sampled = `00-${traceId}-00f067aa0ba902b7-01`;
  const unsampled = `00-${traceId}-00f067aa0ba902b7-00`;
  const none = undefined;

  it.each([
    [undefined, undefined, [3, 3, 0]],
    ['parentbased_always_on', undefined, [3, 3, 0]],
    ['parentbased_always_off', undefined, [0, 3, 0]],
    ['parentbased_traceidratio', '0', [0, 3, 0]],
    ['always_off', undefined, [0, 0, 0]],
    ['always_on', undefined, [3, 3, 3]],
    ['traceidratio', '0', [0, 0, 0]],
    ['traceidratio', '1', [3, 3, 3]],
    ['traceidratio', 'much', [3, 3, 3]],
    ['nobody_knows', undefined, [3, 3, 0]],
  ])('%s %s: spans without a trace, of a sampled and of an unsampled one', (name, argument, counts) => {
    const sampler = samplerOf(sdk, { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument });
    const found = [none, sampled, unsampled].map((traceparent) => {
      exporter.reset();
      return spansOf({ ...served, traceparent }, sampler).length;
    });
    expect(found).toEqual(counts);
  });
});
