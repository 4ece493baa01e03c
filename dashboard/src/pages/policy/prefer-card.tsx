/** Chooses how to rank the routes that the gates leave. */
import type { RoutingPolicy } from '../../api/types.js';
import { Card } from '../../components/card.js';
import { Segmented } from '../../components/segmented.js';

const preferences = [
  { value: 'balanced', label: 'Balanced' },
  { value: 'price', label: 'Price' },
  { value: 'latency', label: 'Latency' },
  { value: 'carbon', label: 'Carbon' },
  { value: 'throughput', label: 'Throughput' },
];

export interface PreferCardProps {
  value: RoutingPolicy['prefer'];
  onChange: (value: RoutingPolicy['prefer']) => void;
  /** A project may take the account's. */
  inherits: boolean;
}

export function PreferCard({ value, onChange, inherits }: PreferCardProps) {
  return (
    <Card description="Ranks the routes that the gates leave. Routes with unknown figures come last." title="Prefer">
      <Segmented
        label="Prefer"
        onChange={(chosen) => onChange(chosen === '' ? null : (chosen as RoutingPolicy['prefer']))}
        options={inherits ? [{ value: '', label: 'As the account' }, ...preferences] : preferences}
        value={value ?? ''}
      />
    </Card>
  );
}
