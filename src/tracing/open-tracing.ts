/**
 * Traces to an OpenTelemetry collector, where the environment names one (contract 9). The packages for it are optional and loaded only
 * then. A collector that is slow, dead or full costs requests nothing: spans wait in a bounded queue, and what does not fit is dropped.
 */
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import type { Logger } from '../base/logger.js';
import { version } from '../base/version.js';
import { writeSpans } from './chat-spans.js';
import type { Tracing } from './ended-chat.js';
import { type Environment, samplerOf, type TraceSdk } from './sampler.js';

type Resources = typeof import('@opentelemetry/resources');
type Exporter = typeof import('@opentelemetry/exporter-trace-otlp-proto');
export type LoadPackage = (name: string) => Promise<unknown>;

const loadPackage: LoadPackage = (name) => import(/* @vite-ignore */ name);
const packages = ['@opentelemetry/sdk-trace', '@opentelemetry/resources', '@opentelemetry/exporter-trace-otlp-proto'];

/** Two or three spans a request, a few kilobytes each. */
const queueSpansMax = 4096;
const stopMs = 2_000;
/** Of what the SDK has to say, one line a minute. */
const tellMs = 60_000;

export interface TracingOptions {
  env: Environment;
  logger: Logger;
  load?: LoadPackage;
}

/** null = no traces are wanted, or none can be made; the latter is told once, in the log. */
export async function openTracing({ env, logger, load = loadPackage }: TracingOptions): Promise<Tracing | null> {
  const url = endpointOf(env);
  if (url === null) return null;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
  if (protocol !== 'http/protobuf') {
    logger.warn({ protocol }, 'traces are sent as http/protobuf only, not by the protocol that is asked for');
  }
  try {
    const [sdk, resources, exporter] = (await Promise.all(packages.map(load))) as [TraceSdk, Resources, Exporter];
    return tracingTo(url, { sdk, resources, exporter }, env, logger);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    const why = missing ? `install ${packages.join(', ')}` : String(error);
    logger.warn({ why }, 'traces are asked for, but cannot be made; serving without');
    return null;
  }
}

/** null where nobody asks for traces, or somebody asks for none. */
function endpointOf(env: Environment): string | null {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER?.trim() === 'none')
    return null;
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  if (own) return own;
  const common = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  return common ? `${common.replace(/\/+$/, '')}/v1/traces` : null;
}

function tracingTo(
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
        // Headers, timeout, compression and certificates it reads from the environment itself.
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

/** A collector that does not answer keeps no process from ending. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work.catch(() => {}), late]).finally(() => clearTimeout(timer));
}
