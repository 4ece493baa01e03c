/** A dialog with one form. An error of the gateway appears at its field, or above the form. */
import type { UseMutationResult } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { isApiError } from '../api/client.js';
import { Button } from './button.js';
import { Dialog, DialogActions } from './dialog.js';
import { messageOf, Notice } from './states.js';

export interface FormDialogProps<Out> {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  action: string;
  change: UseMutationResult<Out, Error, unknown>;
  onDone?: (answer: Out) => void;
  /** The error parameters that have a field in this form. */
  params: readonly string[];
  children: (at: (param: string) => string | null) => ReactNode;
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
  const { error } = change;
  const at = (param: string) => (isApiError(error) && error.param === param ? error.message : null);
  const close = () => {
    change.reset();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (change.isPending) return;
    change.mutate(undefined, {
      onSuccess: (answer) => {
        close();
        onDone?.(answer);
      },
    });
  };
  return (
    <Dialog description={description} onClose={close} open={open} title={title}>
      <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
        {error !== null && !params.some(at) && <Notice>{messageOf(error)}</Notice>}
        {children(at)}
        <DialogActions>
          <Button onClick={close}>Cancel</Button>
          <Button busy={change.isPending} type="submit" variant="primary">
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
