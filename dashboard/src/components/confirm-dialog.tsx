/** Asks before something is lost. The button names the action. */
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { Dialog, DialogActions } from './dialog.js';
import { messageOf, Notice } from './states.js';

export interface ConfirmDialogProps<In> {
  /** The thing to confirm; the dialog is closed while it is null. */
  subject: In | null;
  onClose: () => void;
  title: string;
  children: ReactNode;
  action: string;
  change: UseMutationResult<unknown, unknown, In>;
  onDone?: () => void;
}

export function ConfirmDialog<In>({
  subject,
  onClose,
  title,
  children,
  action,
  change,
  onDone,
}: ConfirmDialogProps<In>) {
  const close = () => {
    change.reset();
    onClose();
  };
  const confirm = () => {
    if (subject === null) return;
    change.mutate(subject, {
      onSuccess: () => {
        close();
        onDone?.();
      },
    });
  };
  return (
    <Dialog description={children} onClose={close} open={subject !== null} title={title}>
      {change.isError && <Notice>{messageOf(change.error)}</Notice>}
      <DialogActions>
        <Button onClick={close}>Cancel</Button>
        <Button busy={change.isPending} onClick={confirm} variant="danger">
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
