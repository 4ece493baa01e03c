/** Reads what a receipt is made of from the row of its generation. */
import type { ReceiptSource } from '../../proof/receipt.js';
import { readBill } from '../../wire/cost.js';

export const receiptColumns = `g.id, g.account_id as "accountId", g.created_ms as "createdAt", g.requested_model as "requestedModel",
  g.served_model as "servedModel", g.provider, g.locode, g.attempts, g.billed, g.bill, g.cost_pico as "costPico",
  g.prompt_tokens as "promptTokens", g.completion_tokens as "completionTokens", g.cached_tokens as "cachedTokens",
  g.reasoning_tokens as "reasoningTokens", g.stream_end as "streamEnd", g.proof, g.credential_id as "credentialId",
  g.credential_owner as "credentialOwner", g.notional_pico as "notionalPico"`;

export interface GenerationRow extends Omit<ReceiptSource, 'attempts' | 'bill'> {
  attempts: string;
  bill: string | null;
}

export function sourceOf({ attempts, bill, ...row }: GenerationRow): ReceiptSource {
  return { ...row, attempts: JSON.parse(attempts), bill: bill === null ? null : readBill(bill) };
}
