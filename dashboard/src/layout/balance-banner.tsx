/** A notice above every page while the balance is below the account's threshold, or used up. */
import { Link, useRouterState } from '@tanstack/react-router';
import { buttonClass } from '../components/button.js';
import { classNames } from '../components/class-names.js';
import { AlertIcon } from '../components/icons.js';
import { totalUsd } from '../format/money.js';
import { useSession } from './session-context.js';

const tones = { low: 'bg-warn-soft text-warn', exhausted: 'bg-danger-soft text-danger' };

export function BalanceBanner() {
  const { account, payments, operator } = useSession();
  const { balance_level: level, balance_usd: balance, low_balance_usd: threshold } = account;
  const onCredits = useRouterState({ select: ({ location }) => location.pathname.endsWith('/credits') });
  if (level === 'fine' || balance === null || threshold === null) return null;
  return (
    <div
      className={classNames(
        'mb-5 flex flex-wrap items-center justify-between gap-x-4 gap-y-2 rounded-lg px-4 py-3',
        tones[level],
      )}
      role={level === 'exhausted' ? 'alert' : 'status'}
    >
      <span className="flex min-w-0 items-start gap-2.5">
        <AlertIcon className="mt-0.5 size-4.5 shrink-0" />
        {level === 'exhausted' ? (
          <span>
            Your balance is {totalUsd(balance)}. All requests are refused until you add credit, also requests to free
            models.
          </span>
        ) : (
          <span>
            Your balance is {totalUsd(balance)}, below {totalUsd(threshold)}. At zero, requests are refused.
          </span>
        )}
      </span>
      {payments !== 'none' ? (
        !onCredits && (
          <Link className={buttonClass('secondary', 'small', 'max-sm:ml-7')} to="/credits">
            Add credit
          </Link>
        )
      ) : operator ? (
        <Link
          className={buttonClass('secondary', 'small', 'max-sm:ml-7')}
          params={{ id: account.id }}
          to="/accounts/$id"
        >
          Add credit
        </Link>
      ) : (
        <span className="text-sm max-sm:ml-7">Ask your operator for credit.</span>
      )}
    </div>
  );
}
