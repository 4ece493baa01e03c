/** Copies a text and confirms it, also to screen readers. Works without the clipboard API too (plain http). */
import { useEffect, useState } from 'react';
import { Button, IconButton } from './button.js';
import { CheckIcon, CopyIcon } from './icons.js';

export interface CopyButtonProps {
  text: string;
  /** The accessible name. The button shows `children`, or only an icon. */
  label: string;
  children?: string;
  className?: string;
}

export function CopyButton({ text, label, children, className }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = async () => setCopied(await copyText(text));
  const icon = copied ? CheckIcon : CopyIcon;
  return (
    <>
      {children ? (
        <Button aria-label={label} className={className} icon={icon} onClick={copy} size="small">
          {copied ? 'Copied' : children}
        </Button>
      ) : (
        <IconButton className={className} icon={icon} label={label} onClick={copy} />
      )}
      <span className="sr-only" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** The clipboard API is absent outside secure contexts. */
function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr-only';
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  const focused = document.activeElement;
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
