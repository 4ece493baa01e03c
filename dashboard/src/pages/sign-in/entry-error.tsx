/** An error of a form before sign-in. A rate limit counts down. */
import { useEffect, useState } from 'react';
import type { ApiError } from '../../api/client.js';
import { Notice } from '../../components/states.js';

export function EntryError({ error }: { error: ApiError }) {
  const wait = useCountdown(error.retryAfterSeconds ?? 0, error);
  return (
    <Notice>
      {error.message}
      {wait > 0 && <span className="tabular"> You can try again in {wait} s.</span>}
    </Notice>
  );
}

/** Counts whole seconds down to zero; restarts with each `start`. */
function useCountdown(seconds: number, start: unknown): number {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    setLeft(start ? seconds : 0);
    const timer = setInterval(() => setLeft((now) => Math.max(0, now - 1)), 1000);
    return () => clearInterval(timer);
  }, [seconds, start]);
  return left;
}
