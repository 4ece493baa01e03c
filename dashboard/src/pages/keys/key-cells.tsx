/** What a key has spent of its limit, and what it is restricted to, in the table of API keys. */
import type { Key } from '../../api/types.js';
import { Amount } from '../../components/amount.js';
import { classNames } from '../../components/class-names.js';
import { percent, plural } from '../../format/figures.js';
import { plotValue } from '../../format/money.js';

const periods = { never: '', daily: ' today', weekly: ' this week', monthly: ' this month' } as const;

/** The amount, and a bar where the key has a limit. */
export function Spent({ of: key }: { of: Key }) {
  const { usage_usd: spent, limit_usd: limit, limit_reset: reset } = key;
  if (limit === null) return <Amount as="total" usd={spent} />;
  const whole = plotValue(limit);
  const part = whole === 0 ? 1 : Math.min(1, plotValue(spent) / whole);
  return (
    <span className="relative inline-flex min-w-28 flex-col items-stretch gap-1">
      <span className="whitespace-nowrap">
        <Amount as="total" usd={spent} />{' '}
        <span className="text-ink-3">
          of <Amount as="total" usd={limit} />
        </span>
      </span>
      <span aria-hidden className="h-1 rounded-full bg-sunken">
        <span
          className={classNames('block h-1 rounded-full', part >= 1 ? 'bg-danger' : 'bg-accent')}
          style={{ width: `${part * 100}%` }}
        />
      </span>
      <span className="sr-only">{percent(part)} of the limit is spent.</span>
      {reset !== 'never' && <span className="text-xs text-ink-3">spent{periods[reset]}</span>}
    </span>
  );
}

export function Scope({ of: key }: { of: Key }) {
  if (key.kind === 'management') return <span className="text-sm whitespace-nowrap text-ink-2">API keys only</span>;
  const parts = [
    listText(key.allowed_models, 'model'),
    listText(key.allowed_providers, 'provider'),
    listText(key.allowed_ips, 'address range'),
    key.requests_per_minute !== null && `${key.requests_per_minute} requests/min`,
    key.tokens_per_minute !== null && `${key.tokens_per_minute} tokens/min`,
  ].filter((part) => part !== null && part !== false);
  const all = [...(key.allowed_models ?? []), ...(key.allowed_providers ?? []), ...(key.allowed_ips ?? [])];
  return (
    <span
      className="text-sm text-ink-2 max-md:wrap-anywhere md:line-clamp-2 md:max-w-56"
      title={[...parts, ...all].join('\n') || undefined}
    >
      {parts.length === 0 ? 'Everything' : parts.join(' · ')}
    </span>
  );
}

/** One entry by its name, several by their number. */
function listText(entries: string[] | null, what: string): string | null {
  if (!entries) return null;
  return entries.length === 1 ? entries[0]! : plural(entries.length, what);
}
