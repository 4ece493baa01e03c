/** The people of the account: invite, change roles, remove. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { invitationsQuery, memberPages } from '../../api/organisation.js';
import type { Invitation, Member } from '../../api/organisation-types.js';
import { useChange } from '../../api/queries.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Input } from '../../components/field.js';
import { MembersIcon, PlusIcon } from '../../components/icons.js';
import { MoreButton } from '../../components/more-button.js';
import { useProjectNames } from '../../components/organisation/project-filter.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, ErrorState, SkeletonRows } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { useToast } from '../../components/toast.js';
import { RightButton, useLack } from '../../components/why-not.js';
import { plural } from '../../format/figures.js';
import { date, fromNow } from '../../format/time.js';
import { useSession } from '../../layout/session-context.js';
import { InviteDialog } from './invite-dialog.js';
import { RoleDialog } from './role-dialog.js';

export function Page() {
  const { find = '' } = useSearch({ strict: false }) as { find?: string };
  const navigate = useNavigate();
  const [inviting, setInviting] = useState(false);
  return (
    <>
      <PageHeader
        actions={
          <RightButton icon={PlusIcon} onClick={() => setInviting(true)} right="members.change" variant="primary">
            Invite
          </RightButton>
        }
        description="People who sign in to this account, and what each may do."
        title="Members"
      />
      <search className="mb-4 block max-w-sm">
        <Input
          label="Search"
          onChange={(event) =>
            void navigate({ to: '/members', search: { find: event.target.value || undefined }, replace: true })
          }
          placeholder="Email or name"
          type="search"
          value={String(find)}
        />
      </search>
      <div className="flex flex-col gap-5">
        <People find={String(find)} />
        <Invitations />
      </div>
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  );
}

function People({ find }: { find: string }) {
  const pages = useInfiniteQuery({ ...memberPages(find), placeholderData: keepPreviousData });
  const rows = pages.data?.pages.flatMap(({ data }) => data);
  const projects = useProjectNames();
  const { person } = useSession();
  const [edited, setEdited] = useState<Member | null>(null);
  const [removed, setRemoved] = useState<Member | null>(null);
  const say = useToast();
  const remove = useChange(
    ({ id }: Member) => api<{ disabled_keys: string[] }>(`members/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    [['members'], ['keys']],
  );
  const mayNot = useLack('members.change') !== null;
  const mayNotAdmins = useLack('members.manage') !== null;
  const isAbove = ({ role }: Member) => mayNotAdmins && (role === 'owner' || role === 'admin');
  const columns: Column<Member>[] = [
    {
      header: 'Person',
      lead: true,
      cell: ({ id, email, name }) => (
        <span className="block md:max-w-80 xl:max-w-none">
          <span className="font-medium wrap-anywhere text-ink">{name ?? email}</span>
          {id === person.id && <span className="text-ink-3"> (you)</span>}
          {name && <span className="block text-sm wrap-anywhere text-ink-3">{email}</span>}
        </span>
      ),
    },
    {
      header: 'Role',
      cell: ({ role, roles }) => (
        <span className="inline-flex flex-wrap gap-1.5">
          <Badge tone={role === 'owner' ? 'accent' : 'neutral'}>{role}</Badge>
          {roles.some(({ source }) => source !== 'manual') && <Badge>by single sign-on</Badge>}
        </span>
      ),
    },
    { header: 'Projects', cell: ({ projects: ids }) => <ProjectsOf ids={ids} names={projects} /> },
    {
      header: 'Last seen',
      cell: ({ last_seen_at: at }) => (
        <span className="whitespace-nowrap text-ink-2">{at === null ? 'Never' : fromNow(at)}</span>
      ),
    },
    ...(mayNot
      ? []
      : [
          {
            header: '',
            name: 'Actions',
            end: true,
            cell: (member: Member) =>
              isAbove(member) ? (
                <span className="text-sm text-ink-3">only an owner can change this</span>
              ) : (
                <span className="flex justify-end">
                  <Button
                    onClick={() => setEdited(member)}
                    size="small"
                    title={`Change the role of ${member.email}`}
                    variant="ghost"
                  >
                    Change role
                  </Button>
                  <Button
                    onClick={() => setRemoved(member)}
                    size="small"
                    title={`Remove ${member.email}`}
                    variant="ghost"
                  >
                    Remove
                  </Button>
                </span>
              ),
          },
        ]),
  ];
  return (
    <Card flush>
      {rows === undefined ? (
        pages.isError ? (
          <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
        ) : (
          <SkeletonRows rows={8} />
        )
      ) : rows.length === 0 ? (
        <EmptyState icon={MembersIcon} title="No member matches" />
      ) : (
        <>
          <Table caption="Members" columns={columns} rowKey={({ id }) => id} rows={rows} />
          <MoreButton pages={pages} />
        </>
      )}
      {edited && <RoleDialog member={edited} onClose={() => setEdited(null)} />}
      <ConfirmDialog
        action="Remove member"
        change={remove}
        onClose={() => setRemoved(null)}
        onDone={() => say('Removed. Their access and their API keys ended.')}
        subject={removed}
        title="Remove this member?"
      >
        <strong className="font-medium wrap-anywhere text-ink">{removed?.email}</strong> loses access to this account at
        once, on every page and in every program. API keys that they hold are disabled. API keys of projects stay.
      </ConfirmDialog>
    </Card>
  );
}

const namedMax = 3;

function ProjectsOf({ ids, names }: { ids: string[] | null; names: ReadonlyMap<string, string> }) {
  if (ids === null) return <span className="text-ink-2">All</span>;
  if (ids.length === 0) return <span className="text-ink-2">None</span>;
  const shown = ids.slice(0, namedMax).map((id) => names.get(id) ?? id);
  const more = ids.length - shown.length;
  return (
    <span className="text-ink-2" title={ids.map((id) => names.get(id) ?? id).join('\n')}>
      {shown.join(', ')}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}

function Invitations() {
  const { data: all = [] } = useQuery(invitationsQuery);
  const open = all.filter(({ status }) => status !== 'accepted');
  const projects = useProjectNames();
  const [revoked, setRevoked] = useState<Invitation | null>(null);
  const say = useToast();
  const revoke = useChange(
    ({ id }: Invitation) => api(`invitations/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    [['invitations']],
  );
  const mayNot = useLack('members.change') !== null;
  if (open.length === 0) return null;
  const columns: Column<Invitation>[] = [
    { header: 'Email', lead: true, cell: ({ email }) => <span className="font-medium wrap-anywhere">{email}</span> },
    { header: 'Role', cell: ({ role }) => <Badge>{role}</Badge> },
    { header: 'Projects', cell: ({ projects: ids }) => <ProjectsOf ids={ids} names={projects} /> },
    {
      header: 'Expires',
      cell: ({ status, expires_at: at }) =>
        status === 'expired' ? (
          <Badge tone="warn">expired</Badge>
        ) : (
          <span className="whitespace-nowrap text-ink-2" title={date(at)}>
            {fromNow(at)}
          </span>
        ),
    },
    ...(mayNot
      ? []
      : [
          {
            header: '',
            name: 'Actions',
            end: true,
            cell: (invitation: Invitation) => (
              <Button
                onClick={() => setRevoked(invitation)}
                size="small"
                title={`Revoke the invitation of ${invitation.email}`}
                variant="ghost"
              >
                Revoke
              </Button>
            ),
          },
        ]),
  ];
  return (
    <Card description={`${plural(open.length, 'invitation')} not accepted yet`} flush title="Invitations">
      <Table caption="Invitations" columns={columns} isLow rowKey={({ id }) => id} rows={open} />
      <ConfirmDialog
        action="Revoke invitation"
        change={revoke}
        onClose={() => setRevoked(null)}
        onDone={() => say('Invitation revoked. Its link does not work any more.')}
        subject={revoked}
        title="Revoke this invitation?"
      >
        The link that <strong className="font-medium wrap-anywhere text-ink">{revoked?.email}</strong> has stops
        working.
      </ConfirmDialog>
    </Card>
  );
}
