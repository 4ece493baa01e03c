/** Says why the role of the signed-in person does not allow something, and who to ask. */
import { type ReactNode, useId } from 'react';
import { useSession } from '../layout/session-context.js';
import { Button, type ButtonProps } from './button.js';
import { Card } from './card.js';
import { classNames } from './class-names.js';
import { AlertIcon } from './icons.js';
import { useTitle } from './page-header.js';
import { EmptyState, Notice } from './states.js';

/** The sentence that says who has the right; null where the person has it. */
export function useLack(right: string): string | null {
  return useSession().lacks[right] ?? null;
}

/** Whether the Keys page lists every key of a project: a developer sees only the keys that they hold. */
export function useSeesAllKeys(): boolean {
  const { role } = useSession();
  return useLack('keys.read') === null && role !== 'developer';
}

/** A button for what not every role may do. Where the role lacks it, it is off, and says why. */
export function RightButton({ right, ...button }: ButtonProps & { right: string }) {
  const lack = useLack(right);
  if (lack === null) return <Button {...button} />;
  return (
    <span className="inline-flex flex-col items-end gap-1">
      <Button {...button} disabled />
      <WhyNot reason={lack} />
    </span>
  );
}

export function WhyNot({ reason, className }: { reason: string; className?: string }) {
  const id = useId();
  return (
    <span className={classNames('relative inline-block', className)}>
      <button
        className="rounded-sm text-sm text-ink-2 underline decoration-field/60 underline-offset-4 hover:text-ink"
        popoverTarget={id}
        type="button"
      >
        Why can’t I?
      </button>
      <span
        className="m-auto max-w-sm rounded-lg border border-line bg-surface p-4 text-left text-base whitespace-normal text-ink-2 shadow-pop"
        id={id}
        popover="auto"
      >
        {reason}
      </span>
    </span>
  );
}

/** Above a form that the role may only read. */
export function ReadOnlyNotice({ right }: { right: string }) {
  const lack = useLack(right);
  return lack === null ? null : (
    <div className="mb-4">
      <Notice tone="neutral">You can read this page. {lack}</Notice>
    </div>
  );
}

/** In place of a page that the role does not have. */
export function Allowed({ right, title, children }: { right: string; title: string; children: ReactNode }) {
  const lack = useLack(right);
  return lack === null ? children : <NotAllowed reason={lack} title={title} />;
}

function NotAllowed({ reason, title }: { reason: string; title: string }) {
  useTitle(title);
  return (
    <>
      <h1 className="mb-6 text-xl font-semibold tracking-tight">{title}</h1>
      <Card>
        <EmptyState icon={AlertIcon} title="Your role does not include this page">
          {reason}
        </EmptyState>
      </Card>
    </>
  );
}
