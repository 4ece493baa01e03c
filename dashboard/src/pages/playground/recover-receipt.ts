/** Finds the receipt of an answer that did not bring one: it was stopped, the connection broke, or it failed. */
import { api, query } from '../../api/client.js';
import type { Generation } from '../../api/usage-types.js';
import type { Outcome } from './send-request.js';

const recoverTries = 12;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Reads the receipt of an answer that did not bring one, from the history; null where it does not get there. */
export async function recoverReceipt(outcome: Outcome): Promise<Outcome | null> {
  const tries = outcome.generationId === null ? 3 : recoverTries;
  for (let tried = 0; tried < tries; tried++) {
    await pause(250 * (tried + 1));
    try {
      const found = await findRecord(outcome);
      if (found) return { ...outcome, generationId: found.id, ...figuresOf(found, outcome), recovered: true };
    } catch {
      // Not written yet, or the gateway is not back yet.
    }
  }
  return null;
}

/** What was refused before any route was looked at has no record. */
async function findRecord({ generationId, requestId, ending, model }: Outcome): Promise<Generation | undefined> {
  if (generationId !== null) {
    return (await api<{ data: Generation }>(`v1/generation/${encodeURIComponent(generationId)}`)).data;
  }
  if (requestId === null && ending !== 'stopped') return undefined;
  const search = query(requestId === null ? { limit: 5 } : { limit: 1, request_id: requestId });
  const { data } = await api<{ data: Generation[] }>(`v1/generations${search}`);
  // An answer that was stopped before its first byte brought no id: it is the last one that its client left.
  return data.find((found) => requestId !== null || (found.requested_model === model && isLeft(found)));
}

const isLeft = ({ stream_end: end, status }: Generation) => end === 'client_closed' || status === 499;

function figuresOf(data: Generation, { receipt }: Outcome): Pick<Outcome, 'receipt' | 'usage' | 'finishReason'> {
  return {
    finishReason: data.finish_reason,
    usage: {
      promptTokens: data.prompt_tokens ?? 0,
      completionTokens: data.completion_tokens ?? 0,
      costUsd: data.cost_usd,
    },
    receipt: {
      ...receipt,
      requested_model: data.requested_model,
      ...(data.served_model !== null && { served_model: data.served_model }),
      ...(data.provider !== null && { provider: data.provider }),
      ...(data.locode !== null && { locode: data.locode }),
      providers_attempted: data.providers_attempted,
      breaker_skipped: data.skipped.map(({ route }) => route),
      fallback_occurred: data.fallback_occurred,
      ...(data.stream_end && { stream_end: data.stream_end }),
    },
  };
}
