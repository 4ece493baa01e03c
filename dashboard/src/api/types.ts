/** The shapes of /dashboard/api/. Amounts named …_usd are exact decimal strings; times are ISO 8601. */

export interface List<T> {
  data: T[];
  has_more?: boolean;
}

export interface SessionAccount {
  id: string;
  email: string;
  name: string | null;
  status: 'active' | 'suspended';
  created_at: string;
  /** null where the role may not read it. */
  balance_usd: string | null;
  low_balance_usd: string | null;
  balance_level: 'fine' | 'low' | 'exhausted';
  limits: { requests_per_minute: number; tokens_per_minute: number };
}

export interface AccountChoice {
  id: string;
  email: string;
  name: string | null;
  role: Role;
}

export type Role = 'owner' | 'admin' | 'billing' | 'developer' | 'auditor';

interface Gateway {
  registration: 'open' | 'closed';
  base_url: string;
  docs_url: string;
  /** null where the operator does not publish the status. */
  status_url: string | null;
  version: string;
  /** The processor that credit can be bought through. */
  payments: 'none' | 'stripe';
  /** Who sends the link for a forgotten password. */
  password_reset: 'mail' | 'operator';
  /** How people sign in: with a password, and at identity providers. */
  sign_in: { password: boolean; providers: { id: string; name: string }[] };
}

/** An identity provider, and whether the person has linked it. */
export interface IdentityLink {
  provider: string;
  name: string;
  linked: boolean;
  email: string | null;
  last_used_at: string | null;
}

interface SignedOut extends Gateway {
  signed_in: false;
}

export interface SignedIn extends Gateway {
  signed_in: true;
  /** null for an operator who is a member of no account. */
  account: SessionAccount | null;
  person: { id: string; email: string; name: string | null };
  role: Role;
  /** The projects that a developer is bound to; null for all. */
  projects: string[] | null;
  /** For each right that the role lacks, who has it. */
  lacks: Partial<Record<string, string>>;
  /** Every account that the person can change to. */
  accounts: AccountChoice[];
  operator: boolean;
  operator_by: 'account' | 'session' | 'group' | null;
  opened_by: 'password' | 'provider' | 'admin_token';
  has_password: boolean;
  /** Sign-in asks for a code of an authenticator app. */
  two_factor: boolean;
  /** Operator rights need two-factor sign-in here. */
  operators_need_two_factor: boolean;
  demo: boolean;
}

export type Session = SignedIn | SignedOut;

export interface Key {
  id: string;
  name: string;
  label: string;
  last_four: string;
  /** Where the key was before; null for one that was made here. */
  imported_from: { system: string; id: string } | null;
  /** null for a management key of the whole account. */
  project: string | null;
  /** The id of the person who holds it; null where it belongs to the project. */
  holder: string | null;
  holder_email?: string | null;
  expires_at: string | null;
  state: 'active' | 'disabled' | 'expired';
  created_at: string;
  kind: 'inference' | 'management';
  disabled: boolean;
  limit_usd: string | null;
  limit_reset: LimitReset;
  allowed_models: string[] | null;
  allowed_providers: string[] | null;
  allowed_ips: string[] | null;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  /** In the current period. */
  usage_usd: string;
  limit_remaining_usd: string | null;
  last_used_at: string | null;
}

export type LimitReset = 'never' | 'daily' | 'weekly' | 'monthly';

export interface NewKey extends Key {
  token: string;
}

interface Price {
  input: string;
  output: string;
  cached_input: string | null;
  others: OtherPrices[];
  /** The date of the figures: a day, a month or a year. */
  as_of: string | null;
  /** The figures are older than 90 days. */
  old: boolean;
  /** An offer without a known end. */
  until_changed: boolean;
}

export interface OtherPrices {
  /** When they hold; nothing is set for prices that always hold. */
  when: { tier?: string; from_tokens?: number; utc?: string; days?: number[]; from?: string; after_offer?: true };
  /** By class: USD per million tokens; `request` and `tools.<name>` USD each. */
  prices: Record<string, string>;
}

export interface CatalogueRoute {
  id: string;
  provider: string;
  locode: string;
  default: boolean;
  price: Price | null;
  carbon: number | null;
  country: string | null;
  capabilities: string[];
  data_policy: DataPolicy | null;
  quantization: string | null;
  /** Where the provider says that it processes requests of this route. */
  processing: string | null;
  released: string | null;
  deprecated: string | null;
  retires: { date: string; replaced_by: string | null } | null;
  context_window: number | null;
  max_output_tokens: number | null;
  servable: boolean;
  why_not: 'unconfigured' | 'unpriced' | 'held' | 'disabled' | 'soft_disabled' | 'territory' | null;
  held_until: string | null;
}

/** What is known about the data of paid requests; an absent field is not published. */
export interface DataPolicy {
  trains?: boolean;
  retention_days?: number;
  zdr?: 'default' | 'on_request' | 'contract' | 'no';
  in_region?: boolean;
  eu_owned?: boolean;
  certifications?: string[];
  source?: string;
  as_of?: string;
  basis: 'published' | 'agreement';
}

export type ModelKind = 'chat' | 'embedding' | 'rerank';

export type ModelState = 'available' | 'soft_disabled' | 'disabled';

export interface CatalogueModel {
  id: string;
  auto_id: string;
  creator: string;
  model: string;
  name: string;
  kind: ModelKind;
  /** The length of an embedding model's vectors. */
  dimensions: number | null;
  context_window: number | null;
  max_output_tokens: number | null;
  state: ModelState;
  reason: string | null;
  servable: boolean;
  routes: CatalogueRoute[];
}

interface Provider {
  id: string;
  name: string;
  headquarters: string | null;
  cloud_act: boolean | null;
  configured: boolean;
  /** Which fields a credential of the account has; null where it takes none. */
  secret: SecretKind | null;
}

export type SecretKind = 'api_key' | 'azure' | 'bedrock' | 'vertex';

interface Region {
  locode: string;
  city: string;
  country: string;
  lat: number;
  lon: number;
  carbon: number | null;
}

export interface Alias {
  name: string;
  provider: string;
  canonical_id: string;
  locode: string | null;
  model_id: string;
  created_at: string;
  updated_at: string;
}

export interface Catalogue {
  loaded_at: string;
  data: CatalogueModel[];
  providers: Provider[];
  regions: Region[];
  aliases: Alias[];
  /** Names that the operator gives to models, with the ids that they stand for. */
  names: { name: string; model_id: string }[];
  /** The client APIs that this gateway serves. */
  doors: { name: string; path: string; kind: ModelKind }[];
}

export interface AllowDeny {
  allow: string[];
  deny: string[];
}

export type Preference = 'balanced' | 'price' | 'latency' | 'carbon' | 'throughput';

/** Besides `prefer` a policy has one field for each gate, with the gate's name. */
export interface RoutingPolicy {
  /** null in a project that takes the account's. */
  prefer: Preference | null;
  [gate: string]: unknown;
}

/** A gate as the gateway describes it. */
export interface Gate {
  name: string;
  title: string;
  description?: string;
  control:
    | { kind: 'switch'; label: string; hint: string }
    | { kind: 'ceiling'; label: string }
    | { kind: 'choices'; label: string; options: string[] }
    | { kind: 'lists'; suggest?: string };
}

export interface GateCount {
  gate: string;
  active: boolean;
  removes: number;
  leaves: number;
  alone_leaves: number;
  /** Of a switch that is off: what would be left if it were on. */
  on_leaves: number | null;
}

export interface PolicyPreview {
  model: string;
  total: number;
  left: number;
  gates: GateCount[];
  /** Of a project's policy: the account's gates, which come first. */
  account_gates?: GateCount[];
  /** Of those that are left, how many can serve now. */
  available: number;
  eligible: string[];
  removed: { id: string; gate: string }[];
  error: { message: string; code: string } | null;
  counterfactuals: { gate: string; setting: unknown; admits: number; message: string }[];
  /** Only of a preview over all models. */
  models?: number;
  refused_models?: string[];
}
