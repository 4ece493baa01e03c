/** The configuration after reading, checking and defaulting. Durations are milliseconds, paths are absolute. */
import type { StatedPolicy } from '../base/data-policy.js';
import type { ProviderKey } from '../base/provider-key.js';
import type { IdentityProvider } from './identity-providers.js';
import type { ValuesOf } from './setting.js';
import type { sections, topLevel } from './settings.js';

type Sections = typeof sections;

export type Timeouts = ValuesOf<Sections['timeouts']>;

export interface ProviderSettings {
  /** null where `${NAME}` names an absent variable: the provider is not configured. */
  apiKey?: string | null;
  /** Several credentials, at least one; `apiKey` is then absent, and the environment's key is not used. */
  keys?: readonly ProviderKey[];
  baseUrl?: string;
  /** What the operator has agreed with the provider; its fields win over those of the catalogue. */
  agreement?: StatedPolicy & { readonly reference?: string | null };
  /** Clients may name files, containers and the like that the provider keeps for the operator's account. */
  storedObjects?: boolean;
}

export interface StripeSettings extends Pick<ValuesOf<Sections['payments']>, 'apiBase'> {
  processor: 'stripe';
  secretKey: string;
  webhookSecret: string;
}

type PaymentSettings = { processor: 'none' } | StripeSettings;

interface NoticeSettings extends Omit<ValuesOf<Sections['notices']>, 'webhook'> {
  /** Only the operator sets it: an address chosen by an account could lie in the inner network. */
  webhook: { url: string; secret: string } | null;
}

export interface MailSettings {
  smtpUrl: string;
  from: string;
}

interface SignInSettings extends Omit<ValuesOf<Sections['sign_in']>, 'oidc'> {
  oidc: readonly IdentityProvider[];
}

export interface Config extends ValuesOf<typeof topLevel> {
  /** The file that it was read from; null without one. */
  file: string | null;
  catalogueUpdates: ValuesOf<Sections['catalogue_updates']>;
  server: ValuesOf<Sections['server']>;
  journal: ValuesOf<Sections['journal']>;
  storage: ValuesOf<Sections['storage']>;
  limits: ValuesOf<Sections['limits']>;
  timeouts: Timeouts;
  compat: ValuesOf<Sections['compat']>;
  routing: ValuesOf<Sections['routing']>;
  breaker: ValuesOf<Sections['breaker']>;
  territories: ValuesOf<Sections['territories']>;
  providers: Record<string, ProviderSettings>;
  payments: PaymentSettings;
  status: ValuesOf<Sections['status']>;
  billing: ValuesOf<Sections['billing']>;
  notices: NoticeSettings;
  /** null where no mail is sent. */
  mail: MailSettings | null;
  signIn: SignInSettings;
  proof: ValuesOf<Sections['proof']>;
  secrets: ValuesOf<Sections['secrets']>;
  ownKeys: ValuesOf<Sections['own_keys']>;
}
