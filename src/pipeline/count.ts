/**
 * Serves a request that only asks how many tokens its prompt has. It passes admit, validate, resolve, gate and rank like any other, and
 * nothing is generated.
 */
import type { Identity } from '../domain/account.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { admit } from './admit.js';
import { AnswerBytes, CallerGone } from './caller.js';
import { gate, wishesOf } from './gate.js';
import type { Arrival } from './handover.js';
import { headsOf, withOwn } from './own-credentials.js';
import type { PipelinePorts } from './ports.js';
import { rank } from './rank.js';
import { checkKind, resolveRequested } from './resolve.js';
import { checkContentType, estimatePromptTokens, freeLargeParts } from './validate.js';
import { countPrompt } from './walk/count-prompt.js';

/** A count is free: it needs no credit, takes none of the key's tokens and leaves no record. */
export async function answerCount(ports: PipelinePorts, arrival: Arrival): Promise<void> {
  const { door, caller, requestId, notes } = arrival;
  const identity = await admit(ports, arrival);
  checkContentType(caller.contentType);
  const body = await caller.readBody(ports.bodyMemory.open(identity.account.id));
  notes.bodyBytes = body.length;
  const request = await ports.validator.validate(door, body);
  try {
    const { tokens, isLocal } = await countFor(ports, { identity, caller, door }, request);
    if (caller.gone) throw new CallerGone();
    const note = isLocal ? ',"router_metadata":{"counted":"local"}' : '';
    const headers = [...ports.keyLimiter.headersOf(identity), 'x-request-id', requestId];
    caller.answer(headers, new AnswerBytes(`{"input_tokens":${tokens}${note}}`, 'latin1'));
  } finally {
    freeLargeParts(request);
  }
}

function countFor(
  ports: PipelinePorts,
  { identity, caller, door }: { identity: Identity } & Pick<Arrival, 'caller' | 'door'>,
  request: ChatRequest,
): ReturnType<typeof countPrompt> {
  const snapshot = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const plan = withOwn(ports, identity, resolveRequested(snapshot, identity.account, request));
  checkKind(door, plan);
  const moment = { atMs: ports.clock.now(), promptTokens: estimatePromptTokens(request) };
  const preferences = wishesOf(request, snapshot);
  const { policy } = identity.account;
  const projectPolicy = identity.project.policy;
  const { territory } = caller.origin;
  // To count is free.
  const asker = { identity, policy, projectPolicy, territory, moment, preferences, unpaid: null };
  const { eligible, error } = gate(ports, plan, asker);
  if (error) throw error;
  const prefer = preferences?.prefer ?? projectPolicy?.prefer ?? policy.prefer;
  const candidates = rank(ports, plan.hasOwn ? headsOf(eligible) : eligible, { prefer, stream: false, moment });
  return countPrompt(ports, caller, request, candidates);
}
