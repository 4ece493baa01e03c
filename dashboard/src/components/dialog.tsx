/**
 * A modal dialog with the native element: focus stays inside and returns afterwards, Escape closes it, and the page behind is
 * inert. Libraries for this inject styles, which the Content-Security-Policy refuses.
 */
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { Button, IconButton } from './button.js';
import { classNames } from './class-names.js';
import { CloseIcon } from './icons.js';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  wide?: boolean;
  /** Keeps the dialog open on a click outside, so that nothing is lost. */
  closeOutside?: boolean;
  /** Asked before Escape or the cross closes the dialog, where something in it cannot be shown again. */
  keep?: string | undefined;
}

export function Dialog({ open, ...rest }: DialogProps) {
  return open ? createPortal(<OpenDialog {...rest} />, document.body) : null;
}

function OpenDialog(props: Omit<DialogProps, 'open'>) {
  const { title, description, children, wide, closeOutside = true, keep } = props;
  const [isAsking, setAsking] = useState(false);
  const onClose = () => (keep === undefined ? props.onClose() : setAsking(true));
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();

  useEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    const root = document.getElementById('root');
    dialog?.showModal();
    root?.setAttribute('aria-hidden', 'true');
    return () => {
      dialog?.close();
      root?.removeAttribute('aria-hidden');
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard's way to close is Escape, which the element itself handles.
    <dialog
      aria-describedby={description ? `${id}-about` : undefined}
      aria-labelledby={`${id}-title`}
      className={classNames(
        'animate-rise m-auto max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] overflow-y-auto rounded-xl border border-line bg-surface shadow-pop max-sm:mb-4',
        wide ? 'max-w-2xl' : 'max-w-md',
      )}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // A second Escape closes the element whatever its first one was answered with.
      onClose={() => {
        if (keep === undefined) return props.onClose();
        element.current?.showModal();
        setAsking(true);
      }}
      onClick={(event) => {
        if (closeOutside && event.target === element.current) onClose();
      }}
      ref={element}
    >
      <div className="flex flex-col gap-4 p-5">
        <header className="flex items-start justify-between gap-4">
          <div>
            <h2 className="text-lg font-semibold text-ink" id={`${id}-title`}>
              {title}
            </h2>
            {description && (
              <div className="mt-1 text-ink-2" id={`${id}-about`}>
                {description}
              </div>
            )}
          </div>
          <IconButton className="-mt-1 -mr-1.5" icon={CloseIcon} label="Close" onClick={onClose} />
        </header>
        {isAsking && (
          <div className="flex flex-col gap-3 rounded-md bg-warn-soft p-3" role="alert">
            <p className="text-warn">{keep}</p>
            <DialogActions>
              <Button autoFocus onClick={() => setAsking(false)}>
                Keep it open
              </Button>
              <Button onClick={props.onClose} variant="danger">
                Close
              </Button>
            </DialogActions>
          </div>
        )}
        {children}
      </div>
    </dialog>
  );
}

/** The buttons at the end of a dialog, the main one last; full width on a phone. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-1 flex flex-col-reverse gap-2 sm:flex-row sm:justify-end">{children}</div>;
}
