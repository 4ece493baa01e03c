/** The configuration after reading, checking and defaulting. Durations are milliseconds, paths absolute. */

export interface Timeouts {
  firstByteStreamingMs: number;
  firstByteStreamingAfterTimeoutMs: number;
  firstByteNonStreamingMs: number;
  streamIdleMs: number;
  overallMs: number;
}

export interface ProviderSettings {
  /** null where `${NAME}` named an absent variable: not configured. */
  apiKey?: string | null;
  baseUrl?: string;
}

export interface StripeSettings {
  processor: 'stripe';
  secretKey: string;
  /** Of the one webhook endpoint that Stripe has for this service. */
  webhookSecret: string;
  /** Where Stripe's API is taken from instead; null = Stripe's own. */
  apiBase: string | null;
}

export type PaymentSettings = { processor: 'none' } | StripeSettings;

export interface NoticeSettings {
  /** An account whose owner has set none is told of at this balance; 0 = it is not. */
  lowBalancePico: bigint;
  /** Only the operator names an address that the service calls: one of an account's own could be any of the inner network. */
  webhook: { url: string; secret: string } | null;
  /** How often balances are looked at. */
  intervalMs: number;
}

export interface Config {
  /** The file that it was read from; null without one. */
  file: string | null;
  server: {
    host: string;
    port: number;
    /** null = made from the host and port in use. */
    baseUrl: string | null;
    dashboardUrl: string | null;
    docsUrl: string | null;
    trustedProxies: string[];
    clientIpHeader: string;
    countryHeader: string | null;
    /** An operator's own MaxMind DB file; null = the bundled one. */
    countryDatabase: string | null;
    drainMs: number;
    /** What the request bodies of one process may hold together. */
    bodyMemoryMaxBytes: number;
  };
  storage: { dataDir: string; databaseUrl: string | null; redisUrl: string | null };
  workers: number;
  demo: boolean;
  /** Whether anybody may sign up at the dashboard. */
  registration: 'open' | 'closed';
  /** What an account gets that signs up by itself. */
  welcomeCreditPico: bigint;
  adminToken: string | null;
  /** `builtin` or absolute paths. */
  catalogue: string[];
  limits: { ipRequestsPerMinute: number; keyRequestsPerMinute: number; keyTokensPerMinute: number };
  timeouts: Timeouts;
  breaker: { failures: number; windowMs: number; cooldownMs: number };
  territories: { sanctioned: 'builtin' | string[] };
  providers: Record<string, ProviderSettings>;
  payments: PaymentSettings;
  notices: NoticeSettings;
}
