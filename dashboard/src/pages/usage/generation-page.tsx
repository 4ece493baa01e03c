/** One request with its receipt. The address works for everyone who signs in to the same account, and takes a request id too. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { isApiError } from '../../api/client.js';
import { requestQuery } from '../../api/report.js';
import type { Generation } from '../../api/usage-types.js';
import { buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { CopyButton } from '../../components/copy-button.js';
import { BackIcon, UsageIcon } from '../../components/icons.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { ProofCard } from '../../components/receipt/proof-card.js';
import { Receipt } from '../../components/receipt/receipt.js';
import { Outcome } from '../../components/requests/outcome.js';
import { EmptyState, Notice, SkeletonRows } from '../../components/states.js';
import { exactTime } from '../../format/time.js';
import { useSession } from '../../layout/session-context.js';

export function Page() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const { account } = useSearch({ strict: false }) as { account?: string };
  const generation = useQuery(requestQuery(id, account));
  const isMissing = isApiError(generation.error) && generation.error.status === 404;
  return (
    <>
      <PageHeader
        back={
          account ? (
            <Link className="text-ink-3 hover:text-ink" params={{ id: account }} to="/accounts/$id">
              <BackIcon className="mr-1 inline size-3.5" />
              Account
            </Link>
          ) : (
            <Link className="text-ink-3 hover:text-ink" to="/usage">
              <BackIcon className="mr-1 inline size-3.5" />
              All requests
            </Link>
          )
        }
        title="Request"
      />
      {isMissing ? (
        <Card>
          <EmptyState
            action={
              <Link className={buttonClass('primary')} to="/usage">
                See all requests
              </Link>
            }
            icon={UsageIcon}
            title="No such request"
          >
            This account has no request {id.slice(0, 40)}. It may belong to another account or project.
          </EmptyState>
        </Card>
      ) : (
        <PageData
          query={generation}
          skeleton={
            <Card flush>
              <SkeletonRows rows={8} />
            </Card>
          }
        >
          {(data) => (
            <div className="flex flex-col gap-5">
              <Heading account={account} generation={data} />
              {data.error_code && <Failure code={data.error_code} />}
              <Receipt generation={data} isOwn={account === undefined}>
                {account === undefined && <ProofCard generation={data} />}
              </Receipt>
            </div>
          )}
        </PageData>
      )}
    </>
  );
}

/** The answer that the caller had is not kept, but its code is, and the guide has a line for each. */
function Failure({ code }: { code: string }) {
  const { docs_url: docs } = useSession();
  return (
    <Notice>
      This request failed with <code>{code}</code>.{' '}
      <a
        className="font-medium underline underline-offset-4"
        href={`${docs}/errors#:~:text=${encodeURIComponent(code)}`}
      >
        What it means and what to do
      </a>
    </Notice>
  );
}

function Heading({ generation, account }: { generation: Generation; account: string | undefined }) {
  const { id, request_id: requestId, created_at: at } = generation;
  const search = account ? `?account=${encodeURIComponent(account)}` : '';
  const link = `${window.location.origin}/dashboard/usage/${id}${search}`;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-ink-2">
      <Outcome of={generation} />
      <span className="text-ink-3">{exactTime(at)}</span>
      <Id label="generation id" text={id} />
      <Id label="request id" text={requestId} />
      <CopyButton label="Copy link to this request" text={link}>
        Copy link
      </CopyButton>
    </div>
  );
}

function Id({ label, text }: { label: string; text: string }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1">
      <code className="truncate text-sm" title={label}>
        {text}
      </code>
      <CopyButton label={`Copy the ${label}`} text={text} />
    </span>
  );
}
