/** The turns of one lane, newest at the bottom. Screen readers announce a finished answer as a whole, not word by word. */
import { lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { classNames } from '../../components/class-names.js';
import { CopyButton } from '../../components/copy-button.js';
import { Textarea } from '../../components/field.js';
import { Notice, Skeleton } from '../../components/states.js';
import type { Failure, ToolCall, Turn } from './request.js';

/** Loaded with the first answer, which is shown as plain text until then. */
const Markdown = lazy(() => import('../../components/markdown.js'));

export interface ConversationProps {
  /** Names the lane for screen readers. */
  label: string;
  turns: readonly Turn[];
  busy: boolean;
  empty: ReactNode;
  onRetry: () => void;
  onResult: (callId: string, result: string) => void;
  onSendResults: () => void;
}

export function Conversation({ label, turns, busy, empty, ...actions }: ConversationProps) {
  const place = useRef<HTMLDivElement>(null);
  const length = turns.reduce(
    (sum, { content, reasoning = '' }) => sum + content.length + reasoning.length,
    turns.length,
  );
  useEffect(() => {
    if (length > 0 && place.current) place.current.scrollTop = place.current.scrollHeight;
  }, [length]);
  if (turns.length === 0) {
    return <div className="flex min-h-64 grow items-center justify-center lg:min-h-80">{empty}</div>;
  }
  return (
    <div
      aria-busy={busy}
      aria-label={label}
      className="flex max-h-[32rem] min-h-64 grow flex-col gap-4 overflow-y-auto p-4 lg:min-h-80"
      ref={place}
      role="log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
      tabIndex={0}
    >
      {turns.map((turn, index) => (
        <TurnBubble
          {...actions}
          arriving={busy && index === turns.length - 1}
          isLast={index === turns.length - 1}
          key={turn.id}
          turn={turn}
        />
      ))}
    </div>
  );
}

type TurnProps = Pick<ConversationProps, 'onRetry' | 'onResult' | 'onSendResults'> & {
  turn: Turn;
  arriving: boolean;
  isLast: boolean;
};

function TurnBubble({ turn, arriving, isLast, onRetry, onResult, onSendResults }: TurnProps) {
  const mine = turn.role === 'user';
  const calls = turn.toolCalls ?? [];
  return (
    <div className={classNames('flex max-w-[92%] min-w-0 flex-col gap-1.5', mine ? 'self-end' : 'self-start')}>
      <p className="sr-only">{mine ? 'You' : 'Answer'}</p>
      {turn.reasoning && (
        <details className="text-sm text-ink-2" open={arriving && turn.content === ''}>
          <summary className="w-fit cursor-pointer text-ink-3 hover:text-ink">Reasoning</summary>
          <p className="mt-1 border-l-2 border-line pl-3 whitespace-pre-wrap wrap-anywhere">{turn.reasoning}</p>
        </details>
      )}
      {turn.pictures?.map(({ name, url }) => (
        <img alt={name} className="max-h-40 w-fit max-w-full rounded-md border border-line" key={name} src={url} />
      ))}
      {turn.content && (
        <div
          className={classNames(
            'min-w-0 rounded-lg px-3.5 py-2',
            mine ? 'bg-accent-soft whitespace-pre-wrap wrap-anywhere text-ink' : 'bg-sunken text-ink',
          )}
        >
          {mine ? (
            turn.content
          ) : (
            <Suspense fallback={<span className="whitespace-pre-wrap">{turn.content}</span>}>
              <Markdown text={turn.content} />
            </Suspense>
          )}
        </div>
      )}
      {!turn.content && calls.length === 0 && arriving && <Skeleton className="h-9 w-40" />}
      {calls.map((call) => (
        <Call
          call={call}
          isOpen={isLast && !arriving && !turn.failure}
          key={call.id}
          onResult={(result) => onResult(call.id, result)}
        />
      ))}
      {calls.length > 0 && isLast && !arriving && !turn.failure && (
        <Button className="self-start" onClick={onSendResults} size="small" variant="primary">
          {calls.length === 1 ? 'Send the result' : 'Send the results'}
        </Button>
      )}
      {(turn.stopped || (!mine && turn.content && !arriving)) && (
        <span className="flex items-center gap-1">
          {turn.stopped && <Badge>stopped</Badge>}
          {turn.content && <CopyButton label="Copy this answer" text={turn.content} />}
        </span>
      )}
      {turn.failure && <Failed failure={turn.failure} onRetry={isLast ? onRetry : null} />}
    </div>
  );
}

function Call({ call, isOpen, onResult }: { call: ToolCall; isOpen: boolean; onResult: (result: string) => void }) {
  return (
    <div className="flex flex-col gap-2 rounded-lg border border-line p-3">
      <p className="text-sm">
        <span className="text-ink-3">Calls </span>
        <code className="font-medium">{call.name}</code>
      </p>
      <pre className="text-xs whitespace-pre-wrap wrap-anywhere text-ink-2">{call.arguments || '{}'}</pre>
      {isOpen ? (
        <Textarea
          label={`Result of ${call.name}`}
          onChange={(event) => onResult(event.target.value)}
          placeholder="What the tool answers"
          rows={2}
          value={call.result ?? ''}
        />
      ) : (
        call.result !== undefined && (
          <p className="text-sm">
            <span className="text-ink-3">Result: </span>
            <span className="wrap-anywhere">{call.result || 'empty'}</span>
          </p>
        )
      )}
    </div>
  );
}

function Failed({ failure: { message, detail }, onRetry }: { failure: Failure; onRetry: (() => void) | null }) {
  return (
    <Notice>
      <p>{message}</p>
      {detail && <p className="mt-1 text-xs">{detail}</p>}
      {onRetry && (
        <Button className="mt-2" onClick={onRetry} size="small">
          Send again
        </Button>
      )}
    </Notice>
  );
}
