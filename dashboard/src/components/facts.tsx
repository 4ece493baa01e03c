/** Names and values side by side. */
import type { ReactNode } from 'react';

export interface Fact {
  name: string;
  value: ReactNode;
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
      {facts.map(({ name, value }) => (
        <div className="contents" key={name}>
          <dt className="text-ink-3">{name}</dt>
          <dd className="tabular text-right wrap-anywhere text-ink">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
