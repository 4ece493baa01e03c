/** An amount in USD, shortened for reading. The exact one appears on hover, on focus and on touch. */

import { isNegative, isZero, rowUsd, totalUsd, usd } from '../format/money.js';
import { classNames } from './class-names.js';

export interface AmountProps {
  /** An exact decimal. */
  usd: string;
  /** `total` is a sum of many requests, `row` one request, `exact` a receipt. */
  as: 'total' | 'row' | 'exact';
  /** With a plus sign where it adds. */
  signed?: boolean;
  /** Inside a link or button, which has the focus already. */
  inside?: boolean;
  className?: string;
}

const formats = { total: totalUsd, row: rowUsd, exact: usd };

export function Amount({ usd: amount, as, signed, inside, className }: AmountProps) {
  const plus = signed && !isNegative(amount) && !isZero(amount) ? '+' : '';
  const shown = plus + formats[as](amount);
  const exact = plus + usd(amount);
  if (shown === exact) return <span className={classNames('whitespace-nowrap', className)}>{shown}</span>;
  return (
    <span
      className={classNames('rounded-sm whitespace-nowrap', className)}
      data-exact={exact}
      {...(!inside && { tabIndex: 0 })}
    >
      {shown}
    </span>
  );
}
