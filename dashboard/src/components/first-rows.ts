/** Shows the rows that fill a screen first, and the others in the next render, so that a long table does not hold up its page. */
import { useDeferredValue } from 'react';

const screenRows = 30;

export function useFirstRows<Row>(rows: readonly Row[]): readonly Row[] {
  const isFirst = useDeferredValue(false, true);
  return isFirst ? rows.slice(0, screenRows) : rows;
}
