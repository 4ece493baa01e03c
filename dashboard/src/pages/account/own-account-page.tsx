/** The signed-in account: who it is, its limits, its password, two-factor sign-in, and operator rights for this session. */
import { Card } from '../../components/card.js';
import { Facts } from '../../components/facts.js';
import { PageHeader } from '../../components/page-header.js';
import { count } from '../../format/figures.js';
import { date } from '../../format/time.js';
import { useSession } from '../../layout/session-context.js';
import { IdentitiesCard } from './identities-card.js';
import { OperatorCard } from './operator-card.js';
import { PasswordCard } from './password-card.js';
import { SessionsCard } from './sessions-card.js';
import { TwoFactorCard } from './two-factor-card.js';

export function Page() {
  const { account, hasAccount, person, role, version, sign_in: ways, opened_by: openedBy } = useSession();
  const isPerson = openedBy !== 'admin_token';
  return (
    <>
      <PageHeader title="Account and password" />
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <div className="flex flex-col gap-5">
          {hasAccount && (
            <Card title="This account">
              <Facts
                facts={[
                  { name: 'Email', value: account.email },
                  ...(isPerson ? [{ name: 'You', value: `${person.email}, ${role}` }] : []),
                  { name: 'Id', value: <code className="text-xs">{account.id}</code>, ownLine: true },
                  { name: 'Created', value: date(account.created_at) },
                  { name: 'State', value: account.status },
                  { name: 'Requests per minute', value: count(account.limits.requests_per_minute) },
                  { name: 'Tokens per minute', value: count(account.limits.tokens_per_minute) },
                  { name: 'Gateway', value: `Lodestone ${version}` },
                ]}
              />
            </Card>
          )}
          <OperatorCard />
        </div>
        <div className="flex flex-col gap-5">
          {isPerson && <SessionsCard />}
          {isPerson && ways.providers.length > 0 && <IdentitiesCard />}
          {isPerson && ways.password && (
            <>
              <PasswordCard />
              <TwoFactorCard />
            </>
          )}
        </div>
      </div>
    </>
  );
}
