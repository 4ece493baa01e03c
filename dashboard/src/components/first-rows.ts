/** Shows the rows that fill a screen first, and the others a moment later, so that a long table does not hold up what the page still waits for. */
import { startTransition, useEffect, useState } from 'react';

const screenRows = 30;
/** Of a table that stands below other things. */
const lowRows = 12;
const othersMs = 300;

export function useFirstRows<Row>(rows: readonly Row[], isLow = false): readonly Row[] {
  const [isFirst, setFirst] = useState(true);
  const firstRows = isLow ? lowRows : screenRows;
  const isLong = rows.length > firstRows;
  useEffect(() => {
    if (!isLong) return;
    const timer = setTimeout(() => startTransition(() => setFirst(false)), othersMs);
    return () => clearTimeout(timer);
  }, [isLong]);
  return isFirst && isLong ? rows.slice(0, firstRows) : rows;
}
