/** Measures how fast a stream was, for the ranking of routes. */
import { healthKeyOf, healthOf } from '../health/route-health.js';
import type { Delivered, Exchange } from './handover.js';
import type { PipelinePorts } from './ports.js';

/** A shorter answer says nothing about a route's speed. */
const tokensMin = 50;

/** `lastTextAtMs` is when text was sent last; the first was sent with the head of the answer. */
export function observeThroughput(
  ports: Pick<PipelinePorts, 'health' | 'own'>,
  { trail: { answeredAtMs } }: Exchange,
  { route, billed, streamEnd }: Delivered,
  lastTextAtMs: number,
): void {
  const tokens = billed?.usage.completionTokens ?? 0;
  if (route === null || streamEnd !== 'complete' || answeredAtMs === null || tokens < tokensMin) return;
  const elapsedMs = lastTextAtMs - answeredAtMs;
  if (elapsedMs > 0) healthOf(ports, route).recordThroughput(healthKeyOf(route), (tokens * 1000) / elapsedMs);
}
