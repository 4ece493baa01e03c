/** A new account's first screen: make a key, send a request, look at the receipt. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { keysQuery } from '../../api/queries.js';
import { buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { classNames } from '../../components/class-names.js';
import { CodeBlock } from '../../components/code-block.js';
import { CheckIcon } from '../../components/icons.js';
import { usd } from '../../format/money.js';
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
          <h2 className="text-lg font-semibold tracking-tight">Your first answer is three steps away</h2>
          <p className="mt-1 text-ink-2">
            Any client of the OpenAI API works: give it this gateway’s address and a key of yours. The sandbox models
            cost nothing, so you can rehearse everything, failures too; they need a balance above zero all the same.
          </p>
        </div>
        <div className="sm:text-right">
          <p className="text-sm text-ink-3">Balance</p>
          <p className="tabular text-xl font-semibold tracking-tight">{usd(balance)}</p>
        </div>
      </div>
      <ol className="mt-6 flex flex-col gap-6">
        <Step done={hasKey} number={1} title={hasKey ? 'You have a key' : 'Make a key'}>
          <p className="text-ink-2">It is shown once, when it is made. Keep it like a password.</p>
          <Link className={buttonClass(hasKey ? 'secondary' : 'primary', 'normal', 'mt-3')} to="/keys">
            {hasKey ? 'See it, or make another' : 'Create your first key'}
          </Link>
        </Step>
        <Step number={2} title="Send a request">
          <p className="mb-3 text-ink-2">Put your key where it says so, and paste this into a terminal.</p>
          <CodeBlock
            code={curl({ baseUrl, model: 'sandbox/lodestone/echo', message: 'Hello, Lodestone', stream: false })}
            label="curl command"
          />
        </Step>
        <Step number={3} title="Or try it here first">
          <p className="text-ink-2">
            Send a message in the browser, watch the answer stream, and read the receipt: who served it, where, and what
            it cost.
          </p>
          <div className="mt-3 flex flex-wrap gap-2">
            <Link className={buttonClass('secondary')} to="/playground">
              Try it in the browser
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
