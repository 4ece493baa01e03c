/** The turns, newest at the bottom. Screen readers announce a finished answer as a whole, not word by word. */
import { useEffect, useRef } from 'react';
import { Badge } from '../../components/badge.js';
import { classNames } from '../../components/class-names.js';
import { PlaygroundIcon } from '../../components/icons.js';
import { EmptyState, messageOf, Notice, Skeleton } from '../../components/states.js';
import { failureReceipt } from './chat-stream.js';
import type { Turn } from './use-conversation.js';

export function Conversation({ turns, busy }: { turns: readonly Turn[]; busy: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const length = turns.reduce((sum, { content }) => sum + content.length, turns.length);
  useEffect(() => {
    if (length > 0 && place.current) place.current.scrollTop = place.current.scrollHeight;
  }, [length]);
  if (turns.length === 0) {
    return (
      <div className="flex min-h-64 items-center justify-center lg:min-h-80">
        <EmptyState icon={PlaygroundIcon} title="No messages yet">
          Choose a model and send a message. The sandbox models are free.
        </EmptyState>
      </div>
    );
  }
  return (
    <div
      aria-busy={busy}
      aria-label="Conversation"
      className="flex max-h-[28rem] min-h-64 flex-col gap-4 overflow-y-auto p-5 lg:min-h-80"
      ref={place}
      role="log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
      tabIndex={0}
    >
      {turns.map((turn, index) => (
        <TurnBubble arriving={busy && index === turns.length - 1} key={turn.id} turn={turn} />
      ))}
    </div>
  );
}

function TurnBubble({ turn, arriving }: { turn: Turn; arriving: boolean }) {
  const mine = turn.role === 'user';
  return (
    <div className={classNames('flex max-w-[85%] flex-col gap-1', mine ? 'self-end' : 'self-start')}>
      <p className="sr-only">{mine ? 'You' : 'Answer'}</p>
      {turn.content && (
        <div
          className={classNames(
            'rounded-lg px-3.5 py-2 whitespace-pre-wrap wrap-anywhere',
            mine ? 'bg-accent-soft text-ink' : 'bg-sunken text-ink',
          )}
        >
          {turn.content}
        </div>
      )}
      {!turn.content && arriving && <Skeleton className="h-9 w-40" />}
      {turn.stopped && (
        <span>
          <Badge>stopped</Badge>
        </span>
      )}
      {turn.failure !== undefined && <Failure error={turn.failure} />}
    </div>
  );
}

function Failure({ error }: { error: unknown }) {
  const receipt = failureReceipt(error);
  return (
    <Notice>
      <p>{messageOf(error)}</p>
      {receipt && (
        <p className="mt-1 text-xs">
          {[
            receipt.error.status > 0 && `HTTP ${receipt.error.status}`,
            receipt.error.code,
            receipt.attempted.length > 0 && `tried ${receipt.attempted.join(', ')}`,
            receipt.remaining !== null && `${receipt.remaining} candidates left`,
          ]
            .filter(Boolean)
            .join(' · ')}
        </p>
      )}
    </Notice>
  );
}
