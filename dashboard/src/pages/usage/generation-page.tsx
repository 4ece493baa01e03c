/** One request: what it cost, how long it took, which routes were tried, and the receipt. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { generationQuery } from '../../api/queries.js';
import type { Generation } from '../../api/usage-types.js';
import { Card } from '../../components/card.js';
import { CopyButton } from '../../components/copy-button.js';
import { type Fact, Facts } from '../../components/facts.js';
import { ModelId } from '../../components/model-id.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { SkeletonRows } from '../../components/states.js';
import { count, milliseconds, unknown } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { exactTime } from '../../format/time.js';
import { AttemptTimeline } from './attempt-timeline.js';
import { BillCard } from './bill-card.js';
import { Outcome } from './outcome.js';

export function Page() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const generation = useQuery(generationQuery(id));
  return (
    <>
      <PageHeader
        back={
          <Link className="text-ink-3 hover:text-ink" to="/usage">
            ← All requests
          </Link>
        }
        title="Request"
      />
      <PageData
        query={generation}
        skeleton={
          <Card flush>
            <SkeletonRows rows={8} />
          </Card>
        }
      >
        {(data) => <Details generation={data} />}
      </PageData>
    </>
  );
}

function Details({ generation }: { generation: Generation }) {
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-wrap items-center gap-2 text-ink-2">
        <Outcome of={generation} />
        <code className="text-sm wrap-anywhere">{generation.id}</code>
        <CopyButton label="Copy the request id" text={generation.id} />
        <span className="text-ink-3">{exactTime(generation.created_at)}</span>
      </div>
      <Card title="Attempts">
        <AttemptTimeline generation={generation} />
      </Card>
      <div className="grid items-start gap-5 md:grid-cols-2">
        <Card title="Receipt">
          <Facts facts={receipt(generation)} />
        </Card>
        <Card title="Cost and time">
          <Facts facts={figures(generation)} />
        </Card>
      </div>
      <BillCard generation={generation} />
    </div>
  );
}

function receipt(generation: Generation): Fact[] {
  const { requested_model: asked, served_model: served, providers_attempted: attempted } = generation;
  return [
    { name: 'Requested', value: <ModelId id={asked} /> },
    { name: 'Served', value: served ? <ModelId id={served} /> : 'Not served' },
    { name: 'Provider', value: generation.provider ?? unknown },
    { name: 'Locode', value: generation.locode ?? unknown },
    { name: 'Providers tried', value: attempted.length > 0 ? attempted.join(', ') : 'none' },
    { name: 'Fallback', value: generation.fallback_occurred ? 'yes' : 'no' },
    { name: 'Finish reason', value: generation.finish_reason ?? unknown },
    ...(generation.streamed ? [{ name: 'Stream end', value: generation.stream_end ?? unknown }] : []),
    ...(generation.error_code
      ? [{ name: 'Error', value: <code className="text-sm">{generation.error_code}</code> }]
      : []),
    { name: 'API key', value: generation.key_name },
  ];
}

function figures(generation: Generation): Fact[] {
  const counter = generation.usage_source === 'counted' ? 'Lodestone' : 'the provider';
  return [
    { name: 'Cost', value: <span className="font-semibold">{usd(generation.cost_usd)}</span> },
    { name: 'Prompt tokens', value: count(generation.prompt_tokens) },
    { name: 'of these cached', value: count(generation.cached_tokens) },
    { name: 'Completion tokens', value: count(generation.completion_tokens) },
    { name: 'of these reasoning', value: count(generation.reasoning_tokens) },
    ...(generation.usage_source ? [{ name: 'Counted by', value: counter }] : []),
    { name: 'First byte', value: milliseconds(generation.first_byte_ms) },
    { name: 'Total time', value: milliseconds(generation.latency_ms) },
    { name: 'Streamed', value: generation.streamed ? 'yes' : 'no' },
  ];
}
