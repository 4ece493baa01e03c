/** `/healthz`, `/readyz` and `/metrics`, to which no guard applies but the limit of failed admin authentications. */
import type { FastifyInstance } from 'fastify';
import { AdminGate } from '../admin/admin-gate.js';
import type { HttpDeps } from '../deps.js';
import { metricsText } from './metrics.js';
import { prometheusContentType } from './prometheus-text.js';
import { isFromThisHost } from './this-host.js';

const storeWaitMs = 1000;

export function registerOps(app: FastifyInstance, deps: HttpDeps, lifecycle: { readonly draining: boolean }): void {
  const config = { unguarded: true } as const;
  app.get('/healthz', { config }, (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  app.get('/readyz', { config }, async (_request, reply) => {
    const missing: string[] = [];
    if (lifecycle.draining) missing.push('draining');
    if (!deps.catalogue.current) missing.push('snapshot');
    else if (!deps.isStarted()) missing.push('start');
    if (!(await answersInTime(deps.store.ping()))) missing.push('store');
    const fault = deps.journal.fault ?? null;
    if (fault !== null) missing.push('journal');
    reply.header('cache-control', 'no-store').code(missing.length === 0 ? 200 : 503);
    const parts = degradedParts(deps);
    const degraded = parts.length > 0 ? { degraded: parts } : {};
    if (missing.length === 0) return { status: 'ready', ...degraded };
    return { status: 'not_ready', missing, ...(fault !== null && { reason: journalReason(fault) }), ...degraded };
  });
  const gate = new AdminGate(deps);
  app.get('/metrics', { config }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    const { address } = deps.originOf(request.raw);
    if (!isFromThisHost(request.raw, address)) await gate.requireToken(request, address);
    return reply.header('content-type', prometheusContentType).send(await metricsText(deps));
  });
}

function journalReason(fault: string): string {
  return `The settlement journal cannot be written (${fault}), so requests that cost money are refused. Free space on the disk of storage.data_dir, or make it writable.`;
}

/** What it serves without: told, but no reason to send the traffic elsewhere. */
function degradedParts({ sharedState, otherProcesses }: HttpDeps): string[] {
  return [...(sharedState?.up === false ? ['redis'] : []), ...(otherProcesses?.seen ? ['redis_url'] : [])];
}

async function answersInTime(ping: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), storeWaitMs);
  });
  const answered = ping.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer));
}
