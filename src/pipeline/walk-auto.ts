/** Stage 5 for `auto/` ids: the order in which candidates are tried. */
import { andThen, type MaybePromise } from '../base/maybe-promise.js';
import type { PriceMoment } from '../catalogue/price-moment.js';
import type { Exchange, PipelinePorts, WalkOutcome } from './handover.js';
import { rank } from './rank.js';
import type { Stay } from './stay.js';
import { forgetFailed, recallStay } from './sticky.js';
import { orderCandidates } from './walk/order-candidates.js';
import { type Walk, walk } from './walk.js';

/** Tries the route of the conversation first, then the candidates in the order that the request asks for, or by rank. */
export function walkAuto(ports: PipelinePorts, task: Walk): MaybePromise<WalkOutcome> {
  const { exchange, plan } = task;
  const recalling = plan === exchange.plan ? exchange.stay : recallStay(ports, exchange, plan);
  return andThen(recalling, (stay) => walkStaying(ports, task, stay));
}

function walkStaying(ports: PipelinePorts, task: Walk, stay: Stay | null): Promise<WalkOutcome> {
  const { exchange, plan, candidates: eligible, relay } = task;
  const { identity, request, preferences, trail } = exchange;
  trail.stay = stay;
  const prefer = preferences?.prefer ?? identity.account.policy.prefer;
  const ranked = rank(ports, eligible, { prefer, stream: request.stream, moment: momentOf(exchange) });
  const candidates = orderCandidates(ranked, { request, preferences, stay });
  const walking = walk(ports, { exchange, plan, candidates, relay });
  if (stay === null || stay.routeId === null) return walking;
  return walking.then((outcome) => {
    forgetFailed(ports, exchange);
    return outcome;
  });
}

export function momentOf({ createdAt, promptEstimate }: Exchange): PriceMoment {
  return { atMs: createdAt, promptTokens: promptEstimate };
}
