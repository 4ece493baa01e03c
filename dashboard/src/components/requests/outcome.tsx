/** How a request ended, in one word. */
import type { Generation } from '../../api/usage-types.js';
import { Badge, type Tone } from '../badge.js';
import { streamEndText } from './request-facts.js';

const ends: Readonly<Record<string, Tone>> = {
  ...{ stalled: 'warn', cut: 'warn', client_closed: 'neutral', pricing_fault: 'danger' },
};

export function Outcome({ of }: { of: Pick<Generation, 'status' | 'stream_end' | 'error_code'> }) {
  const end = of.stream_end === null ? undefined : ends[of.stream_end];
  if (end) return <Badge tone={end}>{streamEndText(of.stream_end)}</Badge>;
  if (of.status < 400) return <Badge tone="good">{of.status}</Badge>;
  return (
    <span title={of.error_code ?? undefined}>
      <Badge tone="danger">{of.status}</Badge>
    </span>
  );
}
