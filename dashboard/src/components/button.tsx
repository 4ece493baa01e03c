/** Buttons and links that look like buttons: four weights, two sizes, and a busy state that keeps the width and the focus. */
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { classNames } from './class-names.js';
import type { Icon } from './icons.js';

type Variant = 'primary' | 'secondary' | 'ghost' | 'danger';
type Size = 'small' | 'normal';

const base =
  'relative inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none transition-colors duration-100 disabled:opacity-55';

const variants: Record<Variant, string> = {
  primary: 'bg-accent text-accent-ink shadow-card enabled:hover:bg-accent-strong',
  secondary: 'border border-field/50 bg-surface text-ink shadow-card enabled:hover:bg-sunken',
  ghost: 'text-ink-2 enabled:hover:bg-sunken enabled:hover:text-ink',
  danger: 'bg-danger text-danger-ink shadow-card enabled:hover:bg-danger-strong',
};

const sizes: Record<Size, string> = {
  small: 'h-7 px-2.5 text-sm pointer-coarse:h-9',
  normal: 'h-9 px-3.5 text-base pointer-coarse:h-10',
};

export function buttonClass(variant: Variant = 'secondary', size: Size = 'normal', className?: string): string {
  return classNames(base, variants[variant], sizes[size], className);
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: Variant;
  size?: Size;
  icon?: Icon;
  /** While busy, the button keeps its size and focus, and ignores clicks. */
  busy?: boolean;
  children: ReactNode;
}

export function Button({ variant, size, icon: Glyph, busy, children, className, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      className={buttonClass(variant, size, className)}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {Glyph && <Glyph className={classNames('size-4 shrink-0', busy && 'invisible')} />}
      <span className={busy ? 'opacity-0' : undefined}>{children}</span>
      {busy && <Spinner />}
    </button>
  );
}

function Spinner() {
  return (
    <svg aria-hidden="true" className="absolute size-4 animate-spin" fill="none" viewBox="0 0 16 16">
      <circle cx="8" cy="8" opacity="0.3" r="6.5" stroke="currentColor" strokeWidth="2" />
      <path d="M14.5 8A6.5 6.5 0 0 0 8 1.5" stroke="currentColor" strokeLinecap="round" strokeWidth="2" />
    </svg>
  );
}

export interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** The accessible name; also the tooltip. */
  label: string;
  icon: Icon;
}

export function IconButton({ label, icon: Glyph, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={classNames(
        'inline-flex size-8 shrink-0 items-center justify-center rounded-md text-ink-2 transition-colors duration-100 enabled:hover:bg-sunken enabled:hover:text-ink disabled:opacity-40 pointer-coarse:size-10',
        className,
      )}
    >
      <Glyph className="size-4" />
    </button>
  );
}
