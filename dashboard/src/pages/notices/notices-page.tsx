/** The Notices page: what is reported to whom, the threshold of the balance, and tests. Operators also see the webhook. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../api/client.js';
import { creditsQuery, useChange } from '../../api/queries.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/code-block.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { messageOf, Notice } from '../../components/states.js';
import { useSession } from '../../layout/session-context.js';
import { NoticeThreshold } from '../credits/notice-threshold.js';

interface NoticeReaders {
  mail: boolean;
  mail_to: string[];
}

interface NoticeSettings {
  mail: boolean;
  webhook_host: string | null;
}

const readersQuery = queryOptions({ queryKey: ['notices'], queryFn: () => api<NoticeReaders>('notices') });
const settingsQuery = queryOptions({
  queryKey: ['operator', 'notices'],
  queryFn: () => api<NoticeSettings>('operator/notices'),
});

export function Page() {
  const { operator } = useSession();
  const readers = useQuery(readersQuery);
  const { data: credits } = useQuery(creditsQuery);
  return (
    <>
      <PageHeader
        description="Lodestone reports a low balance, a budget that is nearly used up, and a credential that a provider refuses."
        title="Notices"
      />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <PageData query={readers}>{(data) => <MailCard readers={data} />}</PageData>
          {operator && <WebhookCard />}
        </div>
        <div className="flex flex-col gap-5">
          {credits && <NoticeThreshold key={credits.low_balance_usd} threshold={credits.low_balance_usd} />}
          <Card title="Budget alerts">
            <p className="text-ink-2">
              Each budget has its own alerts:{' '}
              <Link className="text-accent underline underline-offset-2" to="/settings">
                the budget of the account
              </Link>{' '}
              and{' '}
              <Link className="text-accent underline underline-offset-2" to="/projects">
                those of projects
              </Link>
              .
            </p>
          </Card>
        </div>
      </div>
    </>
  );
}

const mailExample = `mail:
  smtp_url: smtps://user:password@mail.example.com
  from: Lodestone <no-reply@example.com>`;

function MailCard({ readers: { mail, mail_to: to } }: { readers: NoticeReaders }) {
  const { person, operator } = useSession();
  const test = useChange(
    () => api<{ to: string; sent: boolean; fault: string | null }>('notices/test-mail', { method: 'POST', body: {} }),
    [],
  );
  return (
    <Card description="Owners and members with the role billing get them." title="By mail">
      <div className="flex flex-col gap-4">
        {mail ? (
          <ul className="flex flex-col gap-1">
            {to.map((email) => (
              <li className="wrap-anywhere" key={email}>
                {email}
              </li>
            ))}
          </ul>
        ) : (
          <p className="text-ink-2">
            This gateway sends no mail.{' '}
            {operator ? 'Add this to its configuration and restart it:' : 'Ask its operator to set mail up.'}
          </p>
        )}
        {!mail && operator && <CodeBlock code={mailExample} label="lodestone.yaml, for mail" />}
        {mail && (
          <div>
            <Button busy={test.isPending} onClick={() => test.mutate(undefined)}>
              Send a test
            </Button>
            <p className="mt-1.5 text-sm text-ink-3">{`To you, ${person.email}.`}</p>
          </div>
        )}
        <div aria-live="polite">
          {test.error && <Notice>{messageOf(test.error)}</Notice>}
          {test.data?.sent && <Notice tone="good">{`Sent to ${test.data.to}. Look into your spam folder too.`}</Notice>}
          {test.data && !test.data.sent && (
            <Notice>{`The mail server did not take the mail: ${test.data.fault}. Tell your operator.`}</Notice>
          )}
        </div>
      </div>
    </Card>
  );
}

const webhookExample = `notices:
  webhook:
    url: https://ops.example.com/lodestone
    secret_file: /run/secrets/notices`;

function WebhookCard() {
  const settings = useQuery(settingsQuery);
  const test = useChange(
    () =>
      api<{ delivered: boolean; status: number | null; fault: string | null }>('operator/notices/test', {
        method: 'POST',
        body: {},
      }),
    [],
  );
  return (
    <PageData query={settings}>
      {({ webhook_host: host }) => (
        <Card description="For operators: notices of all accounts, and models that retire." title="By webhook">
          <div className="flex flex-col gap-4">
            {host === null ? (
              <>
                <p className="text-ink-2">No webhook. Add this to the configuration and restart the gateway:</p>
                <CodeBlock code={webhookExample} label="lodestone.yaml, for the webhook" />
              </>
            ) : (
              <>
                <p>
                  Notices go to <code className="wrap-anywhere">{host}</code>.
                </p>
                <Button busy={test.isPending} className="w-fit" onClick={() => test.mutate(undefined)}>
                  Send a test
                </Button>
              </>
            )}
            <div aria-live="polite">
              {test.error && <Notice>{messageOf(test.error)}</Notice>}
              {test.data?.delivered && (
                <Notice tone="good">{`Delivered: the webhook answered ${test.data.status}.`}</Notice>
              )}
              {test.data && !test.data.delivered && (
                <Notice>
                  {test.data.status === null
                    ? `The webhook cannot be reached: ${test.data.fault}. Check its address and the network.`
                    : `The webhook answered ${test.data.status}, but must answer 200 to 299. Check its log.`}
                </Notice>
              )}
            </div>
          </div>
        </Card>
      )}
    </PageData>
  );
}
