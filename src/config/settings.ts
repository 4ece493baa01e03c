/**
 * Every setting of the configuration file, one row each: its name in the file, its name in `Config`, what it accepts, its default
 * and its line in docs/guide/configuration.md. The schema, the type `Config` and the page are made from these rows.
 */
import {
  byteSize,
  credential,
  duration,
  fields,
  httpAddress,
  integerFrom,
  listOf,
  oneOf,
  text,
  yesOrNo,
} from '../base/yaml-fields.js';
import {
  addressRange,
  databaseUrl,
  displayCurrency,
  headerName,
  host,
  mailSender,
  noticeWebhook,
  port,
  redisTimeout,
  redisUrl,
  retained,
  sanctioned,
  smtpUrl,
  usdAmount,
  verifierKeys,
} from './field-types.js';
import { identityProviders } from './identity-providers.js';
import { sealedSections } from './sealed-settings.js';
import { type Settings, setting } from './setting.js';

export { topLevel } from './top-level-settings.js';

const seconds = 1000;
const minutes = 60 * seconds;
export const sections = {
  compat: {
    openrouter: setting('openRouter', yesOrNo, false, {
      about: 'Whether [OpenRouter’s](openrouter.md) ids and fields are known, and `/api/v1` answers in its shapes.',
    }),
  },
  catalogue_updates: {
    key: setting('keys', verifierKeys, null, {
      about:
        'The public key, or a list of keys, that [updates of the catalogue](catalogue-updates.md) are signed with.',
    }),
    url: setting('url', httpAddress, null, { about: 'Where the gateway looks for an update once a day.' }),
    apply: setting('apply', oneOf(['never', 'additions', 'all']), 'never', {
      about: 'What of it is applied: nothing, new models and routes, or everything. The rest is reported.',
    }),
  },
  server: {
    host: setting('host', host, '127.0.0.1', { env: 'HOST', about: 'The address to listen on.' }),
    port: setting('port', port, 8787, { env: 'PORT', about: 'The port to listen on. 0 lets the system choose one.' }),
    base_url: setting('baseUrl', httpAddress, null, {
      default: 'from host and port',
      about: 'The address of the API as clients see it.',
    }),
    dashboard_url: setting('dashboardUrl', httpAddress, null, {
      default: '`base_url` + `/dashboard`',
      about: 'The address of the dashboard as browsers see it.',
    }),
    docs_url: setting('docsUrl', httpAddress, null, {
      default: '`base_url` + `/docs`',
      about: 'The address of the documentation.',
    }),
    trusted_proxies: setting('trustedProxies', listOf(addressRange, 'address ranges'), [], {
      about: 'CIDRs. The next two headers are believed only when they come from one of these.',
    }),
    client_ip_header: setting('clientIpHeader', headerName, 'x-forwarded-for', {
      about: 'The right-most address in it that is no trusted proxy is the address of the client.',
    }),
    country_header: setting('countryHeader', headerName, null, {
      about: "The client's country, e.g. `cf-ipcountry`. Without it the address is looked up.",
    }),
    country_database: setting('countryDatabase', text, null, {
      default: 'bundled',
      isPath: true,
      about: 'A MaxMind DB file of your own, with subdivisions if it has them.',
    }),
    drain: setting('drainMs', duration, 30 * seconds, {
      about: 'How long running answers may take after SIGTERM.',
    }),
    body_memory_max: setting('bodyMemoryMaxBytes', byteSize, 512 * 1024 * 1024, {
      about:
        'Memory for the request bodies of one process. One account gets at most a quarter of it. Below 128 MiB the largest bodies do not fit into a quarter.',
    }),
  },
  journal: {
    sync: setting('sync', oneOf(['always', 'interval', 'never']), 'never', {
      about:
        'When records of the journal are flushed to the disk: `always` before their answers end, `interval` once a second, `never` when the operating system does it. It matters only where the machine itself stops.',
    }),
  },
  storage: {
    data_dir: setting('dataDir', text, 'data', {
      default: '`./data`',
      isPath: true,
      about: 'The embedded store, the journal and the admin token. Made private (0700) at every start.',
    }),
    database_url: setting('databaseUrl', databaseUrl, null, {
      default: 'embedded store',
      env: 'LODESTONE_DATABASE_URL',
      isSecret: true,
      about: 'PostgreSQL.',
    }),
    redis_url: setting('redisUrl', redisUrl, null, {
      env: 'LODESTONE_REDIS_URL',
      isSecret: true,
      about: 'Redis or Valkey, which workers and replicas share. A list names nodes of a cluster.',
    }),
    redis_timeout: setting('redisTimeoutMs', redisTimeout, 40, {
      default: '`40ms`',
      about: 'How long a request waits for Redis before it goes on without. At most `1s`.',
    }),
    retention: setting('retention', fields({ generations: retained.nullish() }), null, {
      default: '`generations: keep`',
      about:
        '`generations`: how long each request is kept, such as `13mo`. Older months become one ledger entry for each account.',
    }),
  },
  limits: {
    ip_requests_per_minute: setting('ipRequestsPerMinute', integerFrom(1), 1200, {
      about: 'Requests of one address. An IPv6 /64 counts as one address.',
    }),
    key_requests_per_minute: setting('keyRequestsPerMinute', integerFrom(1), 600, {
      about: "Requests of one API key. An account's own limit wins.",
    }),
    key_tokens_per_minute: setting('keyTokensPerMinute', integerFrom(1), 1_000_000, {
      about: "Tokens of one API key. An account's own limit wins.",
    }),
  },
  timeouts: {
    first_byte_streaming: setting('firstByteStreamingMs', duration, 30 * seconds, {
      about: 'Until the first byte of a streamed answer.',
    }),
    first_byte_streaming_after_timeout: setting('firstByteStreamingAfterTimeoutMs', duration, 15 * seconds, {
      about: 'The same, once an earlier attempt of the request has timed out.',
    }),
    first_byte_non_streaming: setting('firstByteNonStreamingMs', duration, 2.5 * minutes, {
      about: 'Until the first byte of an answer that is not streamed.',
    }),
    stream_idle: setting('streamIdleMs', duration, 1.5 * minutes, { about: 'Between two chunks of a stream.' }),
    overall: setting('overallMs', duration, 5 * minutes, {
      about: 'For all attempts of one model id; each entry of a fallback chain has its own.',
    }),
    idle_connection: setting('idleConnectionMs', duration, 55 * seconds, {
      about: 'How long an idle connection to a provider is kept, unless the provider closes it or says that it will.',
    }),
  },
  routing: {
    sticky: setting('sticky', yesOrNo, true, {
      about: 'Whether the next turn of a conversation tries the route that served the last one first.',
    }),
    sticky_ttl: setting('stickyTtlMs', duration, 300 * seconds, {
      about: 'How long after its last turn a conversation is remembered.',
    }),
  },
  breaker: {
    failures: setting('failures', integerFrom(1), 5, {
      about: "Failures within the window that open a route's breaker.",
    }),
    window: setting('windowMs', duration, 30 * seconds, { about: 'The window in which failures are counted.' }),
    cooldown: setting('cooldownMs', duration, 30 * seconds, { about: 'How long an open breaker refuses attempts.' }),
  },
  territories: {
    sanctioned: setting('sanctioned', sanctioned, 'builtin', { about: '`builtin`, or a list of ISO 3166 codes.' }),
  },
  payments: {
    processor: setting('processor', oneOf(['none', 'stripe']), 'none', {
      about:
        '`stripe` adds a checkout to the Credits page. It needs `secret_key` and `webhook_secret` ([payments](payments.md)).',
    }),
    secret_key: setting('secretKey', credential, null, { isSecret: true, about: "Stripe's secret key." }),
    webhook_secret: setting('webhookSecret', credential, null, {
      isSecret: true,
      about: 'The secret of the webhook endpoint at Stripe.',
    }),
    api_base: setting('apiBase', httpAddress, null, {
      default: "Stripe's own",
      about: "Another address of Stripe's API.",
    }),
    currency: setting('currency', oneOf(['USD']), 'USD', { about: 'The only currency.' }),
  },
  status: {
    public: setting('isPublic', yesOrNo, true, {
      about: 'Whether everybody may see [the status page](status-page.md) and `GET /v1/status`.',
    }),
    min_requests: setting('minRequests', integerFrom(1), 20, {
      about: 'With fewer requests in a window, a route has no figures there.',
    }),
    min_accounts: setting('minAccounts', integerFrom(1), 3, {
      about: 'The same with requests of fewer accounts. Lower it on a gateway with fewer accounts.',
    }),
  },
  billing: {
    overdraft: setting('overdraft', oneOf(['open', 'bounded']), 'open', {
      about:
        '`open` admits a request while the balance is above zero. `bounded` also holds the estimated cost of requests in flight against it.',
    }),
    display_currency: setting('displayCurrency', displayCurrency, null, {
      about:
        '`code`, `rate` (the USD that one unit costs), `source` and `as_of`: the dashboard shows balance, spend and ledger in this currency too, beside USD. The ledger stays in USD.',
    }),
  },
  notices: {
    low_balance_usd: setting('lowBalancePico', usdAmount, 1_000_000_000_000n, {
      default: '`"1.00"`',
      about: "A balance below this is reported. An account's own threshold wins; 0 reports nothing.",
    }),
    webhook: setting('webhook', noticeWebhook, null, {
      about:
        '`url` and `secret` (or `secret_file`): where low balances, and accounts that use a model that retires within 60 days, are reported, signed.',
    }),
    interval: setting('intervalMs', duration, 30 * seconds, {
      about: 'How often balances are checked. The use of models that retire is looked for once an hour.',
    }),
  },
  mail: {
    smtp_url: setting('smtpUrl', smtpUrl, null, {
      isSecret: true,
      about:
        'The mail server, such as `smtp://user:password@mail.example.com:587` or `smtps://…`. It sends links that reset passwords ([passwords](passwords.md)).',
    }),
    from: setting('from', mailSender, null, {
      about: 'The sender of mails, such as `Lodestone <no-reply@example.com>`. Needed with `smtp_url`.',
    }),
  },
  sign_in: {
    require_two_factor_for_operators: setting('requireTwoFactorForOperators', yesOrNo, false, {
      about:
        'Whether operators of the dashboard need [two-factor sign-in](two-factor.md). The admin API and its token are not concerned.',
    }),
    password: setting('password', yesOrNo, true, {
      about:
        'Whether people may sign in with a password. `false` leaves [single sign-on](single-sign-on.md) and the admin token, and ends sessions that a password opened.',
    }),
    oidc: setting('oidc', identityProviders, [], {
      default: '`[]`',
      about:
        'Identity providers for [single sign-on](single-sign-on.md): `id`, `name`, `issuer`, `client_id`, `client_secret` (or `client_secret_file`), `scopes`, `domains`, `groups_claim`, `trust_email`, `acr_values`, `grants`.',
    }),
  },
  ...sealedSections,
} satisfies Record<string, Settings>;
