/** The prices of a route beside those of input and output: caches, tools, tiers, long prompts, hours and dates. */
import type { OtherPrices as Prices } from '../../api/types.js';
import { count } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { isPerMillion, priceName } from '../../format/price-names.js';

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function whenText({ tier, from_tokens: tokens, utc, days, from, after_offer: afterOffer }: Prices['when']): string {
  const parts = [
    tier && `Tier ${tier}`,
    tokens !== undefined && `From ${count(tokens)} prompt tokens`,
    utc && `${utc.replace('-', '–')} UTC`,
    days?.map((day) => weekdays[day]).join(', '),
    from && `From ${from}`,
    afterOffer && 'After the offer',
  ];
  return parts.filter(Boolean).join(' · ') || 'Always';
}

/** Closed at first: most readers compare input and output. */
export function OtherPrices({ route, others }: { route: string; others: readonly Prices[] }) {
  if (others.length === 0) return null;
  return (
    <details className="w-full text-sm">
      <summary aria-label={`More prices of ${route}`} className="w-fit cursor-pointer text-ink-3 hover:text-ink">
        More prices
      </summary>
      <dl className="mt-2 flex max-w-xl flex-col gap-3">
        {others.map(({ when, prices }) => (
          <div key={whenText(when)}>
            <dt className="font-medium text-ink-2">{whenText(when)}</dt>
            {Object.entries(prices).map(([name, price]) => (
              <dd className="tabular flex justify-between gap-4 text-ink-2" key={name}>
                <span>{priceName(name)}</span>
                <span className="whitespace-nowrap">
                  {usd(price)} {isPerMillion(name) ? '/M' : 'each'}
                </span>
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </details>
  );
}
