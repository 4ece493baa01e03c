/** Invites somebody by mail, or by a link that is shown once. */
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { NewInvitation } from '../../api/organisation-types.js';
import { useChange } from '../../api/queries.js';
import { Button } from '../../components/button.js';
import { CopyButton } from '../../components/copy-button.js';
import { Dialog, DialogActions } from '../../components/dialog.js';
import { Input } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useToast } from '../../components/toast.js';
import { type Grant, GrantFields, grantBody } from './grant-fields.js';

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [grant, setGrant] = useState<Grant>({ role: 'developer', projects: null });
  const [made, setMade] = useState<NewInvitation | null>(null);
  const say = useToast();
  const invite = useChange(
    () => api<NewInvitation>('invitations', { method: 'POST', body: { email: email.trim(), ...grantBody(grant) } }),
    [['invitations']],
  );
  if (made) return <Link made={made} onClose={onClose} />;
  return (
    <FormDialog
      action="Invite"
      change={{
        ...invite,
        mutate: (_, { onSuccess }) =>
          invite.mutate(undefined, {
            onSuccess: (answer) => {
              if (!answer.mailed) return setMade(answer);
              say(`Invitation sent to ${answer.email}.`);
              onSuccess(answer);
            },
          }),
      }}
      onClose={onClose}
      open
      params={['email', 'role', 'projects']}
      title="Invite somebody"
    >
      {(at) => (
        <>
          <Input
            autoComplete="off"
            error={at('email')}
            label="Email"
            onChange={(event) => setEmail(event.target.value)}
            placeholder="ada@example.com"
            required
            type="email"
            value={email}
          />
          <GrantFields at={at} grant={grant} onChange={setGrant} />
        </>
      )}
    </FormDialog>
  );
}

function Link({ made: { email, url }, onClose }: { made: NewInvitation; onClose: () => void }) {
  return (
    <Dialog
      closeOutside={false}
      description={`Send this link to ${email}. It works once, for 7 days, and cannot be shown again.`}
      keep="The link cannot be shown again. Close without it?"
      onClose={onClose}
      open
      title="Invitation made"
    >
      <div className="flex flex-wrap items-center gap-2 rounded-md border border-accent/40 bg-accent-soft p-2 pl-3">
        <code className="min-w-0 grow text-sm wrap-anywhere text-ink" data-testid="invitation-link">
          {url}
        </code>
        <CopyButton label="Copy invitation link" text={url ?? ''}>
          Copy
        </CopyButton>
      </div>
      <DialogActions>
        <Button onClick={onClose} variant="primary">
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
