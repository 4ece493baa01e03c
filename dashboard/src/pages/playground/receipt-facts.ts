/** The facts of a receipt as rows, so that one answer and several side by side show the same. */
import { streamEndText } from '../../components/requests/request-facts.js';
import { carbon, count, milliseconds, unknown } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { placeName } from '../../format/place.js';
import type { Outcome } from './send-request.js';

export interface ReceiptRow {
  name: string;
  value: string;
  isId?: boolean;
  strong?: boolean;
}

export function receiptRows(outcome: Outcome): ReceiptRow[] {
  return [...routingRows(outcome), ...figureRows(outcome)];
}

function routingRows({ receipt }: Outcome): ReceiptRow[] {
  if (!receipt) return [];
  const { served_model: served, provider, locode, country, carbon: grams, cloud_act: cloudAct } = receipt;
  const optional = (name: string, value: string | null | undefined) => (value ? [{ name, value }] : []);
  return [
    { name: 'Served', value: served ?? 'Not served', isId: served !== undefined },
    { name: 'Provider', value: provider ?? unknown },
    { name: 'Region', value: locode ? [placeName(null, locode), country].filter(Boolean).join(', ') : unknown },
    { name: 'Tried', value: receipt.providers_attempted?.join(', ') || unknown },
    { name: 'Fallback', value: receipt.fallback_occurred ? 'yes' : 'no' },
    ...optional('Skipped', receipt.breaker_skipped?.join(', ')),
    ...optional('Parameters left out', receipt.omitted?.join(', ')),
    ...optional('Alias', receipt.alias),
    { name: 'Grid intensity', value: grams === null || grams === undefined ? unknown : `${carbon(grams)}CO₂e/kWh` },
    {
      name: 'US CLOUD Act',
      value: cloudAct === null || cloudAct === undefined ? unknown : cloudAct ? 'applies' : 'does not apply',
    },
    ...optional('Stream end', receipt.stream_end && streamEndText(receipt.stream_end)),
  ];
}

function figureRows({ usage, firstByteMs, totalMs, overheadMs, finishReason }: Outcome): ReceiptRow[] {
  return [
    ...(finishReason ? [{ name: 'Finish reason', value: finishReason }] : []),
    { name: 'Cost', value: usage ? usd(usage.costUsd) : unknown, strong: true },
    {
      name: 'Tokens',
      value: usage ? `${count(usage.promptTokens)} / ${count(usage.completionTokens)}` : unknown,
    },
    { name: 'First byte, in your browser', value: milliseconds(firstByteMs) },
    { name: 'Total time, in your browser', value: milliseconds(totalMs) },
    ...(usage ? speedOf(usage.completionTokens, totalMs, firstByteMs) : []),
    ...(overheadMs !== null ? [{ name: 'Time in Lodestone', value: milliseconds(overheadMs) }] : []),
  ];
}

/** Tokens a second after the first byte, where there were enough of both to say so. */
function speedOf(tokens: number, totalMs: number, firstByteMs: number | null): ReceiptRow[] {
  const ms = totalMs - (firstByteMs ?? totalMs);
  return tokens >= 10 && ms >= 100 ? [{ name: 'Speed', value: `${Math.round((tokens / ms) * 1000)} tokens/s` }] : [];
}
