/** Changes what a member may do. */
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Member } from '../../api/organisation-types.js';
import { useChange } from '../../api/queries.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useToast } from '../../components/toast.js';
import { type Grant, GrantFields, grantBody } from './grant-fields.js';

export function RoleDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const [grant, setGrant] = useState<Grant>({ role: member.role, projects: member.projects });
  const say = useToast();
  const save = useChange(
    () => api<Member>(`members/${encodeURIComponent(member.id)}`, { method: 'PATCH', body: grantBody(grant) }),
    [['members'], ['session']],
  );
  const bySignOn = member.roles.find(({ source }) => source !== 'manual');
  return (
    <FormDialog
      action="Save role"
      change={save}
      description={
        bySignOn
          ? `${member.email} is ${bySignOn.role} by single sign-on. A role that you set here stands beside it, and the higher one counts.`
          : member.email
      }
      onClose={onClose}
      onDone={() => say('Role saved. It takes effect with the next click.')}
      open
      params={['role', 'projects']}
      title="Change role"
    >
      {(at) => <GrantFields at={at} grant={grant} onChange={setGrant} />}
    </FormDialog>
  );
}
