/** The first screen of a new account: create an API key right here, send a request with the key in it, try the playground. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api } from '../../api/client.js';
import { keysQuery, useChange } from '../../api/queries.js';
import { requestPageOf } from '../../api/report.js';
import type { NewKey } from '../../api/types.js';
import type { Generation } from '../../api/usage-types.js';
import { Button, buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { classNames } from '../../components/class-names.js';
import { CodeBlock } from '../../components/code-block.js';
import { CopyButton } from '../../components/copy-button.js';
import { CheckIcon } from '../../components/icons.js';
import { messageOf, Notice } from '../../components/states.js';
import { Tabs } from '../../components/tabs.js';
import { totalUsd } from '../../format/money.js';
import { useSession } from '../../layout/session-context.js';
import { curl, python, type SnippetRequest, typescript } from '../playground/snippets.js';

export function FirstSteps({ balance }: { balance: string }) {
  const { base_url: baseUrl, docs_url: docsUrl } = useSession();
  const keys = useQuery(keysQuery);
  const [token, setToken] = useState<string | null>(null);
  const create = useChange(
    () => api<NewKey>('keys', { method: 'POST', body: { name: 'first key', expires: '90d' } }),
    [['keys']],
  );
  // The report of the page is of what was there when it was read.
  const first = useQuery({
    ...requestPageOf('1'),
    refetchInterval: ({ state }) => (state.data?.length ? false : firstMs),
  });
  const answered = first.data?.[0];
  const hasKey = token !== null || (keys.data?.length ?? 0) > 0;
  const request = {
    ...{ baseUrl, model: 'sandbox/lodestone/echo', message: 'Hello, Lodestone', stream: false },
    ...(token !== null && { token }),
  };
  return (
    <Card>
      <div className="flex flex-wrap items-start justify-between gap-4">
        <div className="max-w-xl">
          <h2 className="text-lg font-semibold tracking-tight">Get your first answer in three steps</h2>
          <p className="mt-1 text-ink-2">
            Any OpenAI client works: give it the address of this gateway and your API key. The sandbox models are free,
            so you can try everything, including failures. They need a balance above zero.
          </p>
        </div>
        <div className="sm:text-right">
          <p className="text-sm text-ink-3">Balance</p>
          <p className="tabular text-xl font-semibold tracking-tight">{totalUsd(balance)}</p>
        </div>
      </div>
      <ol className="mt-6 flex flex-col gap-6">
        <Step done={hasKey} number={1} title={hasKey ? 'You have a key' : 'Create a key'}>
          {token === null ? (
            <>
              <p className="text-ink-2">It is shown only once. Keep it as safe as a password.</p>
              {create.isError && <Notice>{messageOf(create.error)}</Notice>}
              <span className="mt-3 flex flex-wrap gap-2">
                <Button
                  busy={create.isPending}
                  onClick={() => create.mutate(undefined, { onSuccess: (key) => setToken(key.token) })}
                  variant={hasKey ? 'secondary' : 'primary'}
                >
                  {hasKey ? 'Create another and show it here' : 'Create key'}
                </Button>
                <Link className={buttonClass('ghost')} to="/keys">
                  {hasKey ? 'Manage your keys' : 'Choose name, limits and expiry'}
                </Link>
              </span>
            </>
          ) : (
            <NewToken token={token} />
          )}
        </Step>
        <Step
          done={answered !== undefined}
          number={2}
          title={answered ? 'Your first request has arrived' : 'Send a request'}
        >
          <p className="mb-3 text-ink-2">{answered ? 'It can be sent again at any time.' : howToSend(token)}</p>
          <Languages request={request} />
          <FirstRequest request={answered} />
        </Step>
        <Step number={3} title="Or try it in the browser">
          <p className="text-ink-2">
            Send a message, watch the answer stream, and read the receipt: who served it, where, and what it cost.
          </p>
          <div className="mt-3 flex flex-wrap gap-2">
            <Link className={buttonClass('secondary')} to="/playground">
              Open the playground
            </Link>
            <a className={buttonClass('ghost')} href={docsUrl}>
              Read the guide
            </a>
          </div>
        </Step>
      </ol>
    </Card>
  );
}

const howToSend = (token: string | null) =>
  token === null
    ? 'Set LODESTONE_KEY to your API key, then run this.'
    : 'Your API key is in it already: paste it and run it.';

const firstMs = 1_500;

/** Says so as soon as the first request has ended. */
function FirstRequest({ request }: { request: Generation | undefined }) {
  return (
    <div aria-live="polite" className="mt-3">
      {request ? (
        <Notice tone="good">
          <span className="flex flex-wrap items-center justify-between gap-3">
            {request.provider ? 'Answered.' : 'It was refused.'} Its receipt says what happened and what it cost.
            <Link className={buttonClass('secondary', 'small')} params={{ id: request.id }} to="/usage/$id">
              Read the receipt
            </Link>
          </span>
        </Notice>
      ) : (
        <p className="flex items-center gap-2 text-sm text-ink-3">
          <span aria-hidden="true" className="size-2 animate-pulse rounded-full bg-accent" />
          Waiting for your first request …
        </p>
      )}
    </div>
  );
}

function NewToken({ token }: { token: string }) {
  return (
    <>
      <p className="mb-2 text-ink-2">Copy it now. It cannot be shown again. It expires in 90 days.</p>
      <div className="flex flex-wrap items-center gap-2 rounded-md border border-accent/40 bg-accent-soft p-2 pl-3">
        <code className="min-w-0 grow text-sm wrap-anywhere text-ink" data-testid="first-token">
          {token}
        </code>
        <CopyButton label="Copy API key" text={token}>
          Copy
        </CopyButton>
      </div>
    </>
  );
}

function Languages({ request }: { request: SnippetRequest }) {
  const codes = [
    { language: 'curl', code: curl(request), label: 'curl command' },
    { language: 'Python', code: python(request), label: 'Python code' },
    { language: 'TypeScript', code: typescript(request), label: 'TypeScript code' },
  ];
  return (
    <Tabs
      label="Language"
      tabs={codes.map(({ language, code, label }) => ({
        value: language,
        label: language,
        content: <CodeBlock code={code} label={label} />,
      }))}
    />
  );
}

interface StepProps {
  number: number;
  title: string;
  done?: boolean;
  children: ReactNode;
}

function Step({ number, title, done, children }: StepProps) {
  return (
    <li className="grid grid-cols-[2rem_minmax(0,1fr)] gap-x-3">
      <span
        aria-hidden="true"
        className={classNames(
          'tabular flex size-7 items-center justify-center rounded-full text-sm font-semibold',
          done ? 'bg-good-soft text-good' : 'bg-sunken text-ink-2',
        )}
      >
        {done ? <CheckIcon className="size-4" /> : number}
      </span>
      <div className="min-w-0 pt-0.5">
        <h3 className="font-medium">{title}</h3>
        {children}
      </div>
    </li>
  );
}
