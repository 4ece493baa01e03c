/** Names and values side by side. */
import type { ReactNode } from 'react';
import { classNames } from './class-names.js';

export interface Fact {
  name: string;
  value: ReactNode;
  /** On a line of its own, for a value that must not break, such as an id. */
  ownLine?: boolean;
}

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
      {facts.map(({ name, value, ownLine }) => (
        <div className={ownLine ? 'col-span-2 flex flex-wrap justify-between gap-x-6' : 'contents'} key={name}>
          <dt className="text-ink-3">{name}</dt>
          <dd
            className={classNames(
              'tabular ml-auto text-right text-ink',
              ownLine ? 'whitespace-nowrap' : 'wrap-anywhere',
            )}
          >
            {value}
          </dd>
        </div>
      ))}
    </dl>
  );
}
