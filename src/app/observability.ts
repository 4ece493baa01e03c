/** What watches the requests: the counters, the figures of the process, and traces where they are wanted. */
import type { Logger } from '../base/logger.js';
import { Meters } from '../observability/metrics/meters.js';
import { ProcessMeters } from '../observability/metrics/process-meters.js';
import type { Tracing } from '../observability/tracing/ended-chat.js';
import { openTracing } from '../observability/tracing/open-tracing.js';
import type { Opened } from './opened.js';

export interface Observability {
  meters: Meters;
  processMeters: ProcessMeters;
  tracing: Tracing | null;
}

export async function openObservability(
  env: Readonly<Record<string, string | undefined>>,
  logger: Logger,
  opened: Opened,
): Promise<Observability> {
  const processMeters = opened.add(new ProcessMeters(), async (part) => part.stop());
  const tracing = await openTracing({ env, logger });
  if (tracing) opened.add(tracing, (part) => part.stop());
  return { meters: new Meters(), processMeters, tracing };
}
