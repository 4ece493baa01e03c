/**
 * Sends traces to an OpenTelemetry collector where the environment names one. The packages for it are optional and loaded
 * only then. A slow, dead or full collector costs requests nothing: spans wait in a bounded queue, and what does not fit is
 * dropped.
 */

import type { Logger } from '../../base/logger.js';
import type { Tracing } from './ended-chat.js';
import type { Environment, Exporter, Resources, TraceSdk } from './span-export.js';

export type LoadPackage = (name: string) => Promise<unknown>;

const loadPackage: LoadPackage = (name) => import(/* @vite-ignore */ name);
const packages = ['@opentelemetry/sdk-trace', '@opentelemetry/resources', '@opentelemetry/exporter-trace-otlp-proto'];

interface TracingOptions {
  env: Environment;
  logger: Logger;
  load?: LoadPackage;
}

/** null where no traces are wanted or none can be made; the latter is logged once. */
export async function openTracing({ env, logger, load = loadPackage }: TracingOptions): Promise<Tracing | null> {
  const url = endpointOf(env);
  if (url === null) return null;
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
  if (protocol !== 'http/protobuf') {
    logger.warn({ protocol }, 'traces are sent only as http/protobuf, not by the requested protocol');
  }
  try {
    const [sdk, resources, exporter] = (await Promise.all(packages.map(load))) as [TraceSdk, Resources, Exporter];
    const { tracingTo } = await import('./span-export.js');
    return tracingTo(url, { sdk, resources, exporter }, env, logger);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    const why = missing ? `install ${packages.join(', ')}` : String(error);
    logger.warn({ why }, 'traces are requested but cannot be made; serving without them');
    return null;
  }
}

/** null where traces are not requested or are switched off. */
function endpointOf(env: Environment): string | null {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER?.trim() === 'none')
    return null;
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  if (own) return own;
  const common = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  return common ? `${common.replace(/\/+$/, '')}/v1/traces` : null;
}
