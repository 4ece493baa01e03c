/**
 * The receipt of a request: the bill by class, the attempts, where and under which law it was served, the gates, and the times.
 * The request page and the playground show the same one; `compact` is for a narrow column.
 */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { catalogueQuery } from '../../api/queries.js';
import type { Catalogue } from '../../api/types.js';
import type { Generation } from '../../api/usage-types.js';
import { carbon, count, milliseconds, unknown } from '../../format/figures.js';
import { placeWithLocode } from '../../format/place.js';
import { Card } from '../card.js';
import { classNames } from '../class-names.js';
import { CopyButton } from '../copy-button.js';
import { type Fact, Facts } from '../facts.js';
import { ModelId } from '../model-id.js';
import { hasFallback, streamEndText } from '../requests/request-facts.js';
import { AttemptTimeline } from './attempt-timeline.js';
import { BillLines } from './bill-lines.js';
import { PolicySection } from './policy-section.js';
import { SkippedRoutes } from './skipped-routes.js';

export interface ReceiptProps {
  generation: Generation;
  /** One column. */
  compact?: boolean;
  /** False for an operator who reads the receipt of another account. */
  isOwn?: boolean;
  /** Cards of the page, after the receipt's own. */
  children?: ReactNode;
}

export function Receipt({ generation, compact, isOwn = true, children }: ReceiptProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const cities = new Map(catalogue?.regions.map(({ locode, city }) => [locode, city]));
  return (
    <div className="flex flex-col gap-5" data-testid="receipt">
      <div className={classNames('grid items-start gap-5', !compact && 'lg:grid-cols-2')}>
        <div className="flex min-w-0 flex-col gap-5">
          <Card
            action={
              <CopyButton label="Copy JSON of the receipt" text={JSON.stringify(generation, null, 2)}>
                Copy JSON
              </CopyButton>
            }
            title="Bill"
          >
            <BillLines generation={generation} />
          </Card>
          <Card title="Attempts">
            <AttemptTimeline cities={cities} generation={generation} />
            {generation.skipped.length > 0 && <SkippedRoutes skipped={generation.skipped} />}
          </Card>
          <Card title="Tokens and times">
            <Facts facts={figures(generation)} />
          </Card>
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <Card title="Route">
            <Facts facts={routeFacts(generation)} />
          </Card>
          {generation.served_model && (
            <Card description="From today’s catalogue" title="Place and jurisdiction">
              <Facts facts={placeFacts(generation, catalogue)} />
            </Card>
          )}
          <Card title="Routing policy">
            <PolicySection generation={generation} isOwn={isOwn} />
          </Card>
          {children}
        </div>
      </div>
    </div>
  );
}

const payerText = {
  operator: 'this service',
  account: 'the account’s own credential',
  project: 'the project’s own credential',
};

function routeFacts(generation: Generation): Fact[] {
  const { requested_model: asked, served_model: served, providers_attempted: attempted } = generation;
  return [
    { name: 'Requested', value: <ModelId id={asked} /> },
    { name: 'Served', value: served ? <ModelId id={served} /> : 'Not served' },
    { name: 'Provider', value: generation.provider ?? unknown },
    ...(generation.credential ? [{ name: 'Paid by', value: payerText[generation.credential.owner] }] : []),
    { name: 'Providers tried', value: attempted.length > 0 ? attempted.join(', ') : 'none' },
    { name: 'Fallback', value: hasFallback(generation) ? 'yes' : 'no' },
    { name: 'Finish reason', value: generation.finish_reason ?? unknown },
    ...(generation.streamed ? [{ name: 'Stream end', value: streamEndText(generation.stream_end) }] : []),
    ...(generation.error_code
      ? [{ name: 'Error', value: <code className="text-sm">{generation.error_code}</code> }]
      : []),
    { name: 'API key', value: generation.key_name },
  ];
}

function placeFacts(
  { served_model: served, provider: id, locode }: Generation,
  catalogue: Catalogue | undefined,
): Fact[] {
  const route = catalogue?.data.flatMap(({ routes }) => routes).find((candidate) => candidate.id === served);
  const region = catalogue?.regions.find((candidate) => candidate.locode === locode);
  const provider = catalogue?.providers.find((candidate) => candidate.id === id);
  const grams = route?.carbon ?? region?.carbon ?? null;
  const cloudAct = provider?.cloud_act ?? null;
  return [
    { name: 'Region', value: locode ? placeWithLocode(region?.city, locode) : unknown },
    { name: 'Country', value: route?.country ?? region?.country ?? unknown },
    { name: 'Provider’s headquarters', value: provider?.headquarters ?? unknown },
    { name: 'US CLOUD Act', value: cloudAct === null ? unknown : cloudAct ? 'applies' : 'does not apply' },
    { name: 'Grid intensity', value: grams === null ? 'not published' : `${carbon(grams)}CO₂e/kWh` },
  ];
}

function figures(generation: Generation): Fact[] {
  const counter = {
    ...{ provider: 'counted by the provider', counted: 'counted by Lodestone' },
    estimated: 'estimated, at the lowest possible count',
  };
  return [
    { name: 'Prompt tokens', value: count(generation.prompt_tokens) },
    { name: 'of these cached', value: count(generation.cached_tokens) },
    { name: 'Completion tokens', value: count(generation.completion_tokens) },
    { name: 'of these reasoning', value: count(generation.reasoning_tokens) },
    ...(generation.usage_source ? [{ name: 'Token counts', value: counter[generation.usage_source] }] : []),
    { name: 'First byte', value: milliseconds(generation.first_byte_ms) },
    { name: 'Provider first byte', value: milliseconds(generation.attempts.at(-1)?.first_byte_ms) },
    { name: 'Total time', value: milliseconds(generation.latency_ms) },
    { name: 'Streamed', value: generation.streamed ? 'yes' : 'no' },
  ];
}
