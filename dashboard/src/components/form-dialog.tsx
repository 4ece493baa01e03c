/** A dialog with one form. An error of the gateway appears at its field, or above the form. */
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { type Change, ChangeForm, type ErrorAt } from './change-form.js';
import { Dialog, DialogActions } from './dialog.js';

export interface FormDialogProps<Out> {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  action: string;
  change: Change<Out> & { reset: () => void };
  onDone?: (answer: Out) => void;
  /** The error parameters that have a field in this form. */
  params: readonly string[];
  children: (at: ErrorAt) => ReactNode;
}

export function FormDialog<Out>({
  open,
  onClose,
  title,
  description,
  action,
  change,
  onDone,
  params,
  children,
}: FormDialogProps<Out>) {
  const close = () => {
    change.reset();
    onClose();
  };
  const done = (answer: Out) => {
    close();
    onDone?.(answer);
  };
  const actions = (button: ReactNode) => (
    <DialogActions>
      <Button onClick={close}>Cancel</Button>
      {button}
    </DialogActions>
  );
  return (
    <Dialog description={description} onClose={close} open={open} title={title}>
      <ChangeForm {...{ action, actions, change, children, params }} onDone={done} />
    </Dialog>
  );
}
