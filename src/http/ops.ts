/** `/healthz` and `/readyz`, to which no guard applies (contract 9, ruling 15). */
import type { FastifyInstance } from 'fastify';
import type { HttpDeps } from './deps.js';

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
    if (!(await answersInTime(deps.store.ping()))) missing.push('store');
    reply.header('cache-control', 'no-store').code(missing.length === 0 ? 200 : 503);
    return missing.length === 0 ? { status: 'ready' } : { status: 'not_ready', missing };
  });
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
