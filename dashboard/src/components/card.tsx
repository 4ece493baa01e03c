/** A bordered box. With a title it is a section that screen readers can find. */
import { type ReactNode, useId } from 'react';
import { classNames } from './class-names.js';

export interface CardProps {
  title?: ReactNode;
  /** At the right end of the title's line. */
  action?: ReactNode;
  description?: ReactNode;
  /** No padding, so that a table or list reaches the edges. */
  flush?: boolean;
  className?: string;
  children: ReactNode;
}

export function Card({ title, action, description, flush, className, children }: CardProps) {
  const id = useId();
  const Tag = title ? 'section' : 'div';
  return (
    <Tag
      aria-labelledby={title ? id : undefined}
      className={classNames('min-w-0 rounded-lg border border-line bg-surface shadow-card', className)}
    >
      {title && (
        <header
          className={classNames(
            'flex flex-wrap items-start justify-between gap-x-4 gap-y-1 px-5 pt-4 sm:flex-nowrap',
            flush && 'pb-3',
          )}
        >
          <div className="min-w-0">
            <h2 className="text-base font-semibold text-ink" id={id}>
              {title}
            </h2>
            {description && <p className="mt-0.5 text-sm text-ink-3">{description}</p>}
          </div>
          {action}
        </header>
      )}
      {flush ? children : <div className={classNames('px-5 pb-5', title ? 'pt-3' : 'pt-5')}>{children}</div>}
    </Tag>
  );
}
