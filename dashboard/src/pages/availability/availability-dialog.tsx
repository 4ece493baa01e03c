/** Sets the state of a model, with the reason that clients of a temporarily disabled model see. */
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import type { CatalogueModel, ModelState } from '../../api/types.js';
import { Input, Select } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useToast } from '../../components/toast.js';
import { modelStateName } from '../../format/model-state.js';

const choices = [
  { value: 'available', label: 'Available' },
  { value: 'soft_disabled', label: 'Temporarily disabled: 503 with a reason' },
  { value: 'disabled', label: 'Disabled: 404' },
];

export function AvailabilityDialog({ model, onClose }: { model: CatalogueModel | null; onClose: () => void }) {
  const [state, setState] = useState<ModelState>(model?.state ?? 'available');
  const [reason, setReason] = useState(model?.reason ?? '');
  const say = useToast();
  const change = useChange(
    () =>
      api(`operator/models/${model?.creator}/${model?.model}/availability`, {
        method: 'PUT',
        body: { state, ...(state !== 'available' && reason.trim() && { reason: reason.trim() }) },
      }),
    [['catalogue'], ['operator', 'routes']],
  );
  return (
    <FormDialog
      action="Save"
      change={change}
      onClose={onClose}
      onDone={() => say(`${model?.id} is ${modelStateName(state)}.`)}
      open={model !== null}
      params={['state', 'reason']}
      title={model?.name ?? ''}
    >
      {(at) => (
        <>
          <Select
            error={at('state')}
            label="State"
            onChange={(event) => setState(event.target.value as ModelState)}
            options={choices}
            value={state}
          />
          {state !== 'available' && (
            <Input
              autoComplete="off"
              error={at('reason')}
              hint="Shown to clients in the error message."
              label="Reason"
              onChange={(event) => setReason(event.target.value)}
              value={reason}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
