/** The first screen of a new account: create an API key, send a request, try the playground. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { keysQuery } from '../../api/queries.js';
import { buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { classNames } from '../../components/class-names.js';
import { CodeBlock } from '../../components/code-block.js';
import { CheckIcon } from '../../components/icons.js';
import { totalUsd } from '../../format/money.js';
import { useSession } from '../../layout/session-context.js';
import { curl } from '../playground/snippets.js';

export function FirstSteps({ balance }: { balance: string }) {
  const { base_url: baseUrl, docs_url: docsUrl } = useSession();
  const keys = useQuery(keysQuery);
  const hasKey = (keys.data?.length ?? 0) > 0;
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
        <Step done={hasKey} number={1} title={hasKey ? 'You have an API key' : 'Create an API key'}>
          <p className="text-ink-2">It is shown only once. Keep it as safe as a password.</p>
          <Link className={buttonClass(hasKey ? 'secondary' : 'primary', 'normal', 'mt-3')} to="/keys">
            {hasKey ? 'Manage your API keys' : 'Create API key'}
          </Link>
        </Step>
        <Step number={2} title="Send a request">
          <p className="mb-3 text-ink-2">Set LODESTONE_KEY to your API key, then paste this into a terminal.</p>
          <CodeBlock
            code={curl({ baseUrl, model: 'sandbox/lodestone/echo', message: 'Hello, Lodestone', stream: false })}
            label="curl command"
          />
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

function Step({
  number,
  title,
  done,
  children,
}: {
  number: number;
  title: string;
  done?: boolean;
  children: ReactNode;
}) {
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
