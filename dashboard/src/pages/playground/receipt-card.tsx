/** The routing receipt of the last answer, with its cost and its times. */
import { Link } from '@tanstack/react-router';
import { Card } from '../../components/card.js';
import { type Fact, Facts } from '../../components/facts.js';
import { ModelId } from '../../components/model-id.js';
import { Skeleton } from '../../components/states.js';
import { carbon, count, milliseconds, unknown } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { type ChatResult, costText, type Receipt } from './chat-stream.js';

export function ReceiptCard({ result, busy }: { result: ChatResult | null; busy: boolean }) {
  return (
    <Card title="Receipt">
      {result?.receipt ? (
        <div className="flex flex-col gap-4" data-testid="receipt">
          <Facts facts={[...routing(result.receipt), ...figures(result)]} />
          {result.generationId && (
            <Link
              className="w-fit text-sm font-medium text-accent underline underline-offset-2"
              params={{ id: result.generationId }}
              to="/usage/$id"
            >
              See all details of this request
            </Link>
          )}
        </div>
      ) : busy ? (
        <div className="flex flex-col gap-2.5">
          <Skeleton className="h-5" />
          <Skeleton className="h-5 w-3/4" />
          <Skeleton className="h-5" />
        </div>
      ) : (
        <p className="text-ink-2">
          Appears with the answer: who served it, where, after which attempts, and what it cost.
        </p>
      )}
    </Card>
  );
}

function routing(receipt: Receipt): Fact[] {
  const cloudAct = receipt.cloud_act === null ? unknown : receipt.cloud_act ? 'yes' : 'no';
  return [
    { name: 'Served', value: <ModelId id={receipt.served_model} /> },
    { name: 'Provider', value: receipt.provider },
    { name: 'Region', value: [receipt.locode, receipt.country].filter(Boolean).join(', ') },
    { name: 'Tried', value: receipt.providers_attempted.join(', ') || unknown },
    { name: 'Fallback', value: receipt.fallback_occurred ? 'yes' : 'no' },
    ...(receipt.breaker_skipped?.length ? [{ name: 'Skipped', value: receipt.breaker_skipped.join(', ') }] : []),
    ...(receipt.alias ? [{ name: 'Alias', value: receipt.alias }] : []),
    { name: 'Carbon', value: receipt.carbon === null ? unknown : `${carbon(receipt.carbon)}CO₂e/kWh` },
    { name: 'CLOUD Act', value: cloudAct },
    ...(receipt.stream_end ? [{ name: 'Stream end', value: receipt.stream_end }] : []),
  ];
}

function figures({ usage, firstByteMs, totalMs, overheadMs }: ChatResult): Fact[] {
  return [
    { name: 'Cost', value: usage ? <span className="font-semibold">{usd(costText(usage.cost))}</span> : unknown },
    { name: 'Tokens', value: usage ? `${count(usage.prompt_tokens)} → ${count(usage.completion_tokens)}` : unknown },
    { name: 'First byte', value: milliseconds(firstByteMs) },
    { name: 'Total time', value: milliseconds(totalMs) },
    ...(overheadMs !== null ? [{ name: 'In Lodestone', value: milliseconds(overheadMs) }] : []),
  ];
}
