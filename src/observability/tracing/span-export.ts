/** Exports spans to the collector: a bounded queue, sent in batches; failures are logged once a minute. */

import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Logger } from '../../base/logger.js';
import { version } from '../../base/version.js';
import { writeSpans } from './chat-spans.js';
import type { Tracing } from './ended-chat.js';

export type Resources = typeof import('@opentelemetry/resources');
export type Exporter = typeof import('@opentelemetry/exporter-trace-otlp-proto');

/** Two or three spans for each request, a few kilobytes each. */
const queueSpansMax = 4096;
const stopMs = 2_000;
/** At most one line of the SDK's log in this time. */
const tellMs = 60_000;

export function tracingTo(
  url: string,
  { sdk, resources, exporter }: { sdk: TraceSdk; resources: Resources; exporter: Exporter },
  env: Environment,
  logger: Logger,
): Tracing {
  diag.setLogger(throttled(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const { defaultResource, detectResources, envDetector, resourceFromAttributes, serviceInstanceIdDetector } =
    resources;
  const provider = new sdk.TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'lodestone', 'service.version': version }))
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    sampler: samplerOf(sdk, env),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        // It reads headers, timeout, compression and certificates from the environment itself.
        exporter: new exporter.OTLPTraceExporter({ url }),
        maxQueueSize: queueSpansMax,
        ...batchOptions(env),
      }),
    ],
  });
  const tracer = provider.getTracer('lodestone', version);
  logger.info({ endpoint: new URL(url).origin }, 'traces are exported');
  return {
    chatEnded(chat) {
      try {
        writeSpans(tracer, chat);
      } catch (error) {
        diag.error('a span could not be made', String(error));
      }
    },
    stop: () => within(stopMs, provider.shutdown()),
  };
}

function batchOptions(env: Environment) {
  const settings = {
    maxQueueSize: env.OTEL_BSP_MAX_QUEUE_SIZE,
    maxExportBatchSize: env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    scheduledDelayMillis: env.OTEL_BSP_SCHEDULE_DELAY,
    exportTimeoutMillis: env.OTEL_BSP_EXPORT_TIMEOUT,
  };
  const given = Object.entries(settings).map(([name, text]) => [name, Number(text)] as const);
  return Object.fromEntries(given.filter(([, value]) => Number.isInteger(value) && value > 0));
}

function throttled(logger: Logger): DiagLogger {
  let toldAt = Number.NEGATIVE_INFINITY;
  const tell = (message: string): void => {
    if (performance.now() - toldAt < tellMs) return;
    toldAt = performance.now();
    logger.warn({ error: message.slice(0, 300) }, 'traces cannot be exported; spans are dropped');
  };
  const nothing = () => {};
  return { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing };
}

/** A collector that does not answer does not keep the process from ending. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work.catch(() => {}), late]).finally(() => clearTimeout(timer));
}

export type TraceSdk = typeof import('@opentelemetry/sdk-trace');
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The sampler of OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG. Without a known name it follows the caller's decision, and
 * where there is none, samples every request.
 */
export function samplerOf(sdk: TraceSdk, env: Environment): Sampler {
  const name = env.OTEL_TRACES_SAMPLER?.trim().toLowerCase() ?? '';
  const root = rootSampler(sdk, name.replace(/^parentbased_/, ''), env);
  if (!root) return new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() });
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

function rootSampler(sdk: TraceSdk, name: string, env: Environment): Sampler | null {
  if (name === 'always_on') return new sdk.AlwaysOnSampler();
  if (name === 'always_off') return new sdk.AlwaysOffSampler();
  return name === 'traceidratio' ? new sdk.TraceIdRatioBasedSampler(ratioOf(env)) : null;
}

function ratioOf({ OTEL_TRACES_SAMPLER_ARG: text }: Environment): number {
  const ratio = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return ratio >= 0 && ratio <= 1 ? ratio : 1;
}
