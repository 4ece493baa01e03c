/** One of several credentials that the operator has at a provider. */

export interface ProviderKey {
  /** What operators see of it: in logs, metrics and the admin API. */
  readonly name: string;
  readonly apiKey: string;
  /** Its share of the requests beside the other keys. */
  readonly weight: number;
  /** The models that it may be used for, as `{creator}/{model}` or `{creator}/*`; null = all of the provider. */
  readonly models: readonly string[] | null;
}

/** The name of a provider's `api_key` beside its `keys`. */
export const defaultKeyName = 'default';

export function coversModel({ models }: ProviderKey, creator: string, model: string): boolean {
  return models === null || models.includes(`${creator}/${model}`) || models.includes(`${creator}/*`);
}

export const keyStates = ['ready', 'held', 'refused'] as const;

/** What operators see of a key. */
export interface KeyView extends Omit<ProviderKey, 'apiKey'> {
  readonly provider: string;
  /** `refused` = not used again until the catalogue is reloaded. */
  readonly state: (typeof keyStates)[number];
  /** When it may be used again, in epoch milliseconds; null where it is not held. */
  readonly held: { readonly until: number; readonly reason: 'limited' | 'spent' } | null;
  /** Requests that run with it now. */
  readonly running: number;
  /** Calls since the start. */
  readonly calls: number;
}
