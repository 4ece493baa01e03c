/** Shows the rows that fill a screen first, and the others once everything was read, so that a long table does not hold up what the page waits for. */
import { useIsFetching } from '@tanstack/react-query';
import { startTransition, useEffect, useState } from 'react';

const screenRows = 30;
/** Of a table that stands below other things. */
const lowRows = 12;
const othersMs = 300;

export function useFirstRows<Row>(rows: readonly Row[], isLow = false): readonly Row[] {
  const [isFirst, setFirst] = useState(true);
  const firstRows = isLow ? lowRows : screenRows;
  const isLong = rows.length > firstRows;
  const isReading = useIsFetching() > 0;
  useEffect(() => {
    if (!isLong || isReading) return;
    const timer = setTimeout(() => startTransition(() => setFirst(false)), othersMs);
    return () => clearTimeout(timer);
  }, [isLong, isReading]);
  return isFirst && isLong ? rows.slice(0, firstRows) : rows;
}
