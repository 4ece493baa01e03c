/** A model id: monospaced, breaks at its slashes, never in the middle of a word. */
import { Fragment } from 'react';

/** Longer ids do not fit on a phone. */
const unbrokenMax = 28;

export function ModelId({ id }: { id: string }) {
  return (
    <span className="font-mono text-sm">
      {id.split('/').map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an id never move.
        <Fragment key={index}>
          {index > 0 && (
            <>
              <span className="text-ink-3">/</span>
              <wbr />
            </>
          )}
          <span className={part.length > unbrokenMax ? 'wrap-anywhere' : 'whitespace-nowrap'}>{part}</span>
        </Fragment>
      ))}
    </span>
  );
}
