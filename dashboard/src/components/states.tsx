/** What a page shows instead of data: empty, loading, or an error with a retry. */
import type { ReactNode } from 'react';
import { isApiError } from '../api/client.js';
import { Button } from './button.js';
import { classNames } from './class-names.js';
import { AlertIcon, type Icon } from './icons.js';

export interface EmptyStateProps {
  icon?: Icon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon: Glyph, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-1 px-6 py-12 text-center">
      {Glyph && (
        <span className="mb-2 flex size-10 items-center justify-center rounded-lg border border-line bg-sunken text-ink-3">
          <Glyph className="size-5" />
        </span>
      )}
      <p className="font-medium text-ink">{title}</p>
      {children && <div className="max-w-md text-balance text-ink-2">{children}</div>}
      {action && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={classNames('animate-shimmer block rounded-md bg-sunken', className)} />;
}

/** Placeholder lines for a list or table; screen readers announce "Loading". */
export function SkeletonRows({ rows = 5 }: { rows?: number }) {
  return (
    <div className="flex flex-col gap-3 px-5 py-4" role="status">
      <span className="sr-only">Loading</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines have no identity.
        <Skeleton className="h-6" key={row} />
      ))}
    </div>
  );
}

export function ErrorState({
  error,
  onRetry,
  title = 'Could not load this',
}: {
  error: unknown;
  onRetry?: () => void;
  title?: string;
}) {
  return (
    <div className="flex flex-col items-center gap-1 px-6 py-12 text-center" role="alert">
      <span className="mb-2 flex size-10 items-center justify-center rounded-lg bg-danger-soft text-danger">
        <AlertIcon className="size-5" />
      </span>
      <p className="font-medium text-ink">{title}</p>
      <p className="max-w-lg text-ink-2">{messageOf(error)}</p>
      {isApiError(error) && error.requestId && <p className="text-xs text-ink-3">Request {error.requestId}</p>}
      {onRetry && (
        <Button className="mt-3" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error inside a form or dialog. */
export function Notice({
  tone = 'danger',
  children,
}: {
  tone?: 'danger' | 'warn' | 'good' | 'neutral';
  children: ReactNode;
}) {
  const tones = {
    danger: 'bg-danger-soft text-danger',
    warn: 'bg-warn-soft text-warn',
    good: 'bg-good-soft text-good',
    neutral: 'bg-sunken text-ink-2',
  };
  return (
    <div
      className={classNames('rounded-md px-3 py-2 text-sm', tones[tone])}
      role={tone === 'danger' ? 'alert' : undefined}
    >
      {children}
    </div>
  );
}
