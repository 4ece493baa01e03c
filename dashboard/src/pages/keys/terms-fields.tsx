/** The fields that limit what a key may do and spend, for a new key and for one that is edited. */
import { useQuery } from '@tanstack/react-query';
import { isApiError } from '../../api/client.js';
import { catalogueQuery } from '../../api/queries.js';
import type { Key, LimitReset } from '../../api/types.js';
import { classNames } from '../../components/class-names.js';
import { Input, Select } from '../../components/field.js';
import { TokenField } from '../../components/token-field.js';

/** As typed: an empty text or list is no restriction. */
export interface Terms {
  limit: string;
  reset: LimitReset;
  models: string[];
  providers: string[];
  ips: string[];
  requests: string;
  tokens: string;
}

export const openTerms: Terms = {
  ...{ limit: '', reset: 'never', models: [], providers: [], ips: [], requests: '', tokens: '' },
};

export const termParams = [
  'limit_usd',
  'limit_reset',
  'allowed_models',
  'allowed_providers',
  'allowed_ips',
  'requests_per_minute',
  'tokens_per_minute',
];

export function termsOf(key: Key): Terms {
  return {
    limit: key.limit_usd ?? '',
    reset: key.limit_reset,
    models: key.allowed_models ?? [],
    providers: key.allowed_providers ?? [],
    ips: key.allowed_ips ?? [],
    requests: key.requests_per_minute?.toString() ?? '',
    tokens: key.tokens_per_minute?.toString() ?? '',
  };
}

export function termsBody({ limit, reset, models, providers, ips, requests, tokens }: Terms) {
  return {
    limit_usd: limit.trim() || null,
    limit_reset: reset,
    allowed_models: orNull(models),
    allowed_providers: orNull(providers),
    allowed_ips: orNull(ips),
    requests_per_minute: numberOf(requests),
    tokens_per_minute: numberOf(tokens),
  };
}

const orNull = (list: string[]) => (list.length > 0 ? list : null);

/** What is no number goes to the gateway as it is, which says what is wrong with it. */
function numberOf(text: string): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** The message for a field, also where the fault is in one entry of its list. */
export function errorAt(error: unknown, param: string): string | null {
  return isApiError(error) && error.param?.split('.')[0] === param ? error.message : null;
}

const resets = [
  { value: 'never', label: 'Never' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every Monday' },
  { value: 'monthly', label: 'Every month' },
];

interface TermsFieldsProps {
  terms: Terms;
  onChange: (terms: Terms) => void;
  at: (param: string) => string | null;
  className?: string;
}

export function TermsFields({ terms, onChange, at, className }: TermsFieldsProps) {
  const { data: catalogue } = useQuery(catalogueQuery);
  const models = catalogue?.data ?? [];
  const creators = [...new Set(models.map(({ creator }) => `${creator}/*`))];
  const ids = [
    ...creators,
    ...(catalogue?.names ?? []).map(({ name }) => name),
    ...models.flatMap(({ id, auto_id, routes }) => [id, auto_id, ...routes.map((one) => one.id)]),
  ];
  const set = (change: Partial<Terms>) => onChange({ ...terms, ...change });
  return (
    <div className={classNames('flex flex-col gap-4', className)}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Input
          error={at('limit_usd')}
          hint="Empty for no limit."
          inputMode="decimal"
          label="Spend limit (USD)"
          onChange={(event) => set({ limit: event.target.value })}
          placeholder="25.00"
          value={terms.limit}
        />
        <Select
          error={at('limit_reset')}
          hint="At 00:00 UTC."
          label="Limit starts again"
          onChange={(event) => set({ reset: event.target.value as LimitReset })}
          options={resets}
          value={terms.reset}
        />
        <Input
          error={at('requests_per_minute')}
          inputMode="numeric"
          label="Requests per minute"
          onChange={(event) => set({ requests: event.target.value })}
          placeholder="As the account"
          value={terms.requests}
        />
        <Input
          error={at('tokens_per_minute')}
          inputMode="numeric"
          label="Tokens per minute"
          onChange={(event) => set({ tokens: event.target.value })}
          placeholder="As the account"
          value={terms.tokens}
        />
      </div>
      <TokenField
        error={at('allowed_models')}
        hint="A model id, or creator/* for every model of a creator. Press Enter to add it."
        label="Allowed models"
        onChange={(list) => set({ models: list })}
        placeholder="All models"
        suggestions={ids.map((value) => ({ value }))}
        values={terms.models}
      />
      <TokenField
        error={at('allowed_providers')}
        label="Allowed providers"
        onChange={(list) => set({ providers: list })}
        placeholder="All providers"
        suggestions={(catalogue?.providers ?? []).map(({ id }) => ({ value: id }))}
        values={terms.providers}
      />
      <TokenField
        error={at('allowed_ips')}
        hint="Addresses or ranges like 10.0.0.0/8. Press Enter to add one."
        label="Allowed addresses"
        onChange={(list) => set({ ips: list })}
        placeholder="All addresses"
        suggestions={[]}
        values={terms.ips}
      />
    </div>
  );
}
