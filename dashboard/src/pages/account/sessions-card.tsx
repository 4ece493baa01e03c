/** Where the person is signed in, and ending it. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import type { List } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { messageOf, Notice, Skeleton } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { plural } from '../../format/figures.js';
import { date, dateTime } from '../../format/time.js';
import { browserName } from './browser-name.js';

interface OpenSession {
  id: string;
  current: boolean;
  opened_by: 'password' | 'provider';
  user_agent: string | null;
  created_at: string;
  last_used_at: string;
}

const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async () => (await api<List<OpenSession>>('sessions')).data,
});

export function SessionsCard() {
  const { data: sessions, error } = useQuery(sessionsQuery);
  const say = useToast();
  const [doomed, setDoomed] = useState<readonly OpenSession[] | null>(null);
  const end = useChange(
    (ended: readonly OpenSession[]) =>
      api(ended.length === 1 && ended[0] ? `sessions/${encodeURIComponent(ended[0].id)}` : 'sessions', {
        method: 'DELETE',
      }),
    [['sessions']],
  );
  const others = sessions?.filter(({ current }) => !current) ?? [];
  return (
    <Card
      action={
        others.length > 1 && (
          <Button onClick={() => setDoomed(others)} size="small">
            End all others
          </Button>
        )
      }
      description="The browsers in which you are signed in."
      title="Sessions"
    >
      {error && <Notice>{messageOf(error)}</Notice>}
      {!sessions && !error && <Skeleton className="h-16" />}
      <ul className="flex flex-col gap-3">
        {sessions?.map((session) => (
          <SessionRow key={session.id} onEnd={() => setDoomed([session])} session={session} />
        ))}
      </ul>
      <ConfirmDialog
        action={doomed && doomed.length > 1 ? `End ${plural(doomed.length, 'session')}` : 'End session'}
        change={end}
        onClose={() => setDoomed(null)}
        onDone={() => say('Ended. The next click there leads to the sign-in page.')}
        subject={doomed}
        title={doomed && doomed.length > 1 ? 'End all other sessions?' : 'End this session?'}
      >
        {doomed?.length === 1 && doomed[0]
          ? `${browserName(doomed[0].user_agent)}, signed in on ${date(doomed[0].created_at)}, is signed out at once.`
          : 'All other browsers are signed out at once. This one stays signed in.'}
      </ConfirmDialog>
    </Card>
  );
}

function SessionRow({ session, onEnd }: { session: OpenSession; onEnd: () => void }) {
  const name = browserName(session.user_agent);
  return (
    <li className="flex items-center justify-between gap-3">
      <span className="min-w-0">
        <span className="block truncate" title={session.user_agent ?? undefined}>
          {name}
        </span>
        <span className="block text-sm text-ink-3">
          {`Signed in ${dateTime(session.created_at)}`}
          {session.opened_by === 'provider' && ' by single sign-on'}
        </span>
      </span>
      {session.current ? (
        <Badge tone="good">this browser</Badge>
      ) : (
        <Button onClick={onEnd} size="small" title={`End the session of ${name}`}>
          End
        </Button>
      )}
    </li>
  );
}
