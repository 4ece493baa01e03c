/**
 * Every gate with a route whose fact is good, bad or unknown, set by the account, by the request, or by both. What is expected is
 * written down here for each gate, and computed from nothing.
 */
import type { YamlObject } from '../../support/gateway-files.js';
import { facts, keyless, routeOf } from './oracle.js';

type Subject = 'good' | 'bad' | 'silent' | 'worldwide' | 'unpriced' | 'foreign';

/** Models of one route each, so that `auto/` has a single candidate and its fact alone decides. */
export const subjects: Readonly<Record<Subject, { provider: string; creator: string; locode: string }>> = {
  good: { provider: 'good', creator: 'meta', locode: 'defra' },
  bad: { provider: 'bad', creator: 'meta', locode: 'frpar' },
  silent: { provider: 'silent', creator: 'meta', locode: 'frpar' },
  worldwide: { provider: 'worldwide', creator: 'meta', locode: 'global' },
  unpriced: { provider: 'silent', creator: 'meta', locode: 'frpar' },
  foreign: { provider: 'good', creator: 'elsewhere', locode: 'defra' },
};

export function gridModels(): YamlObject[] {
  return Object.entries(subjects).map(([name, { provider, creator }]) => {
    const { price, ...route } = routeOf(facts.find((fact) => fact.provider === provider)!);
    return { creator, model: `alone-${name}`, routes: [name === 'unpriced' ? route : { ...route, price }] };
  });
}

interface GridRow {
  /** The gate as the account and as the request name it, each with its setting; null where it has no such gate. */
  account: { gate: string; policy: object } | null;
  request: { gate: string; wishes: object } | null;
  /** What the gate lets through, and what it removes: known to be bad, or not known. */
  passes: readonly Subject[];
  removes: readonly Subject[];
  /** A wish that has no effect on an explicit id. */
  isForAutoOnly?: true;
}

/** The same setting under the same name for account and request. */
const alike = (gate: string, setting: unknown): Pick<GridRow, 'account' | 'request'> => ({
  account: { gate, policy: { [gate]: setting } },
  request: { gate, wishes: { [gate]: setting } },
});
const goodOnly = { passes: ['good'], removes: ['bad', 'silent'] } as const;
const first = keyless.provider;

export const gridRows: readonly GridRow[] = [
  { ...alike('deny_cloud_act', true), ...goodOnly },
  { ...alike('max_carbon', 50), passes: ['good'], removes: ['bad', 'silent', 'worldwide'] },
  {
    account: { gate: 'max_price', policy: { max_price: 1 } },
    request: { gate: 'max_price', wishes: { max_price: { prompt: '0.5', completion: 1 } } },
    ...{ passes: ['good'], removes: ['bad', 'unpriced'] },
  },
  {
    account: null,
    request: { gate: 'max_price', wishes: { max_price: { request: 0.001 } } },
    ...{ passes: ['good'], removes: ['bad', 'unpriced'] },
  },
  {
    account: { gate: 'providers', policy: { providers: { allow: ['good'], deny: [] } } },
    request: { gate: 'only', wishes: { only: ['good', first] } },
    ...goodOnly,
  },
  {
    account: { gate: 'providers', policy: { providers: { allow: [], deny: ['bad'] } } },
    request: { gate: 'ignore', wishes: { ignore: ['bad'] } },
    ...{ passes: ['good', 'silent'], removes: ['bad'] },
  },
  {
    account: { gate: 'creators', policy: { creators: { allow: ['meta'], deny: [] } } },
    request: null,
    ...{ passes: ['good'], removes: ['foreign'] },
  },
  { ...alike('regions', { allow: ['DE'], deny: [] }), passes: ['good'], removes: ['bad', 'worldwide'] },
  { ...alike('regions', { allow: [], deny: ['frpar'] }), passes: ['good', 'worldwide'], removes: ['bad'] },
  {
    account: { gate: 'deny_training', policy: { deny_training: true } },
    request: { gate: 'data_collection', wishes: { data_collection: 'deny' } },
    ...{ passes: ['good', 'worldwide'], removes: ['bad', 'silent'] },
  },
  { ...alike('max_retention_days', 30), passes: ['good', 'worldwide'], removes: ['bad', 'silent'] },
  {
    account: { gate: 'max_retention_days', policy: { max_retention_days: 0 } },
    request: { gate: 'max_retention_days', wishes: { zdr: true } },
    ...{ passes: ['good'], removes: ['bad', 'worldwide', 'silent'] },
  },
  { ...alike('require_in_region', true), passes: ['good'], removes: ['bad', 'worldwide', 'silent'] },
  { ...alike('require_eu_owned', true), ...goodOnly },
  { ...alike('certifications', ['soc2']), passes: ['good', 'worldwide'], removes: ['bad', 'silent'] },
  { ...alike('certifications', ['iso27001', 'soc2']), passes: ['good'], removes: ['bad', 'worldwide', 'silent'] },
  { ...alike('quantizations', ['bf16', 'fp32']), passes: ['good'], removes: ['bad', 'worldwide', 'silent'] },
  {
    account: null,
    request: { gate: 'allow_fallbacks', wishes: { order: ['good', first], allow_fallbacks: false } },
    ...goodOnly,
    isForAutoOnly: true,
  },
];

export const gridForms = ['auto', 'pin', 'alias to auto', 'alias to a pin', 'chain to auto', 'chain to a pin'] as const;
type GridForm = (typeof gridForms)[number];
export const gridSetters = ['account', 'request', 'both'] as const;

export interface Cell {
  row: GridRow;
  setBy: (typeof gridSetters)[number];
  subject: Subject;
  form: GridForm;
}

/** The cells of a row, grouped by who sets the gate, because the account's policy is the same for a group. */
export function cellsOf(row: GridRow, setBy: Cell['setBy']): Cell[] {
  if ((setBy !== 'request' && row.account === null) || (setBy !== 'account' && row.request === null)) return [];
  return [...row.passes, ...row.removes].flatMap((subject) => gridForms.map((form) => ({ row, setBy, subject, form })));
}

/** The gate that removes the route and the `param` of the 403; null where it may serve. The account's gates never touch a pin. */
export function removalOf({ row, setBy, subject, form }: Cell): { gate: string; param: string } | null {
  if (row.passes.includes(subject)) return null;
  const isPin = form.endsWith('pin');
  if (!isPin && setBy !== 'request') return { gate: row.account!.gate, param: 'model' };
  if (setBy === 'account' || (isPin && row.isForAutoOnly)) return null;
  return { gate: `provider.${row.request!.gate}`, param: 'provider' };
}

/** The model, and the chain where the route is only an entry of one; its first id has no credentials and fails at once. */
export function askedFor({ subject, form }: Cell): { model: string; fallback?: { models: string[] } } {
  const { provider, creator, locode } = subjects[subject];
  const auto = `auto/${creator}/alone-${subject}`;
  const pin = `${provider}/${creator}/alone-${subject}/${locode}`;
  const chain = (entry: string) => ({ model: `${first}/meta/other/defra`, fallback: { models: [entry] } });
  if (form === 'chain to auto') return chain(auto);
  if (form === 'chain to a pin') return chain(pin);
  if (form === 'alias to auto') return { model: 'alias/auto' };
  if (form === 'alias to a pin') return { model: 'alias/pin' };
  return { model: form === 'auto' ? auto : pin };
}
