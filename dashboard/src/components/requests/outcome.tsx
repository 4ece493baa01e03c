/** How a request ended, in one word. */
import type { Generation } from '../../api/usage-types.js';
import { Badge, type Tone } from '../badge.js';

const ends: Record<string, [string, Tone]> = {
  stalled: ['stalled', 'warn'],
  cut: ['cut', 'warn'],
  client_closed: ['client left', 'neutral'],
  pricing_fault: ['pricing fault', 'danger'],
};

export function Outcome({ of }: { of: Pick<Generation, 'status' | 'stream_end' | 'error_code'> }) {
  const end = of.stream_end === null ? undefined : ends[of.stream_end];
  if (end) return <Badge tone={end[1]}>{end[0]}</Badge>;
  if (of.status < 400) return <Badge tone="good">{of.status}</Badge>;
  return (
    <span title={of.error_code ?? undefined}>
      <Badge tone="danger">{of.status}</Badge>
    </span>
  );
}
