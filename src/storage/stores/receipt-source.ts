/** Reads what a receipt is made of from the row of its generation. */
import type { ReceiptSource } from '../../proof/receipt.js';
import { readBill } from '../../wire/cost.js';

export const receiptColumns = `g.id, g.account_id, g.created_ms, g.requested_model, g.served_model, g.provider, g.locode, g.attempts, g.billed,
  g.bill, g.cost_pico, g.prompt_tokens, g.completion_tokens, g.cached_tokens, g.reasoning_tokens, g.stream_end, g.proof,
  g.credential_id, g.credential_owner, g.notional_pico`;

export interface GenerationRow {
  id: string;
  account_id: string;
  created_ms: string;
  requested_model: string;
  served_model: string | null;
  provider: string | null;
  locode: string | null;
  attempts: string;
  billed: boolean;
  bill: string | null;
  cost_pico: string;
  prompt_tokens: string;
  completion_tokens: string;
  cached_tokens: string;
  reasoning_tokens: string;
  stream_end: ReceiptSource['streamEnd'];
  proof: string | null;
  credential_id: string | null;
  credential_owner: ReceiptSource['credentialOwner'];
  notional_pico: string | null;
}

export function sourceOf(row: GenerationRow): ReceiptSource {
  return {
    id: row.id,
    accountId: row.account_id,
    createdAt: Number(row.created_ms),
    requestedModel: row.requested_model,
    servedModel: row.served_model,
    provider: row.provider,
    locode: row.locode,
    attempts: JSON.parse(row.attempts) as ReceiptSource['attempts'],
    billed: row.billed,
    bill: row.bill === null ? null : readBill(row.bill),
    costPico: BigInt(row.cost_pico),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    cachedTokens: Number(row.cached_tokens),
    reasoningTokens: Number(row.reasoning_tokens),
    streamEnd: row.stream_end,
    proof: row.proof,
    credentialId: row.credential_id,
    credentialOwner: row.credential_owner ?? null,
    notionalPico: row.notional_pico === null ? null : BigInt(row.notional_pico),
  };
}
