/** The configuration file's fields. Every one is optional, null is the default, and an unknown one is a fault. */
import { z } from 'zod';
import { canonicalRange } from '../base/ip-address.js';
import { parseUsd } from '../base/money.js';
import {
  byteSize,
  credential,
  duration,
  field,
  fields,
  httpAddress,
  integerFrom,
  isProviderId,
  listOf,
  oneOf,
  providerIdExpected,
  readCredential,
  territory,
  text,
  yesOrNo,
} from '../base/yaml-fields.js';

export const port = integerFrom(0, 65_535);
export const host = field('a host name or address', (value) =>
  typeof value === 'string' && /^[^\s/]+$/.test(value) ? value : undefined,
);
export const databaseUrl = addressOf('a postgres:// or postgresql:// address', /^postgres(ql)?:\/\/\S+$/i);
export const redisUrl = addressOf('a redis://, rediss:// or unix:/ address', /^(rediss?:\/\/|unix:\/)\S+$/i);

/** Anybody can guess at it, so it is long; the limit on failed attempts is by address, and there are many of those. */
const adminTokenMin = 24;
export const adminTokenExpected = `a token of at least ${adminTokenMin} characters, such as one from: openssl rand -base64 32`;
export const adminToken = field(
  adminTokenExpected,
  (value) => {
    const token = readCredential(value);
    return token !== undefined && token.length >= adminTokenMin ? token : undefined;
  },
  true,
);

/** Such an address carries a password, so it is never quoted. */
function addressOf(expected: string, form: RegExp) {
  return field(
    expected,
    (value) => (typeof value === 'string' && form.test(value.trim()) ? value.trim() : undefined),
    true,
  );
}

const headerName = field('the name of a header', (value) =>
  typeof value === 'string' && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(value) ? value.toLowerCase() : undefined,
);

const addressRange = field('an address range such as 10.0.0.0/8 or fd00::/8', (value) =>
  typeof value === 'string' ? (canonicalRange(value) ?? undefined) : undefined,
);

const server = fields({
  host: host.nullish(),
  port: port.nullish(),
  base_url: httpAddress.nullish(),
  dashboard_url: httpAddress.nullish(),
  docs_url: httpAddress.nullish(),
  trusted_proxies: listOf(addressRange, 'address ranges').nullish(),
  client_ip_header: headerName.nullish(),
  country_header: headerName.nullish(),
  country_database: text.nullish(),
  drain: duration.nullish(),
  body_memory_max: byteSize.nullish(),
});

const storage = fields({
  data_dir: text.nullish(),
  database_url: databaseUrl.nullish(),
  redis_url: redisUrl.nullish(),
});

const limits = fields({
  ip_requests_per_minute: integerFrom(1).nullish(),
  key_requests_per_minute: integerFrom(1).nullish(),
  key_tokens_per_minute: integerFrom(1).nullish(),
});

const timeouts = fields({
  first_byte_streaming: duration.nullish(),
  first_byte_streaming_after_timeout: duration.nullish(),
  first_byte_non_streaming: duration.nullish(),
  stream_idle: duration.nullish(),
  overall: duration.nullish(),
});

const breaker = fields({
  failures: integerFrom(1).nullish(),
  window: duration.nullish(),
  cooldown: duration.nullish(),
});

const sanctioned = z.unknown().transform((value, context): 'builtin' | string[] => {
  if (value === 'builtin') return value;
  const codes = listOf(territory, 'ISO 3166 codes, or `builtin`').safeParse(value);
  if (codes.success) return codes.data;
  for (const issue of codes.error.issues) {
    context.addIssue({ code: 'custom', message: issue.message, path: [...issue.path] });
  }
  return z.NEVER;
});

const provider = fields({ api_key: credential.nullish(), base_url: httpAddress.nullish() });

const providers = z.record(z.string().refine(isProviderId), provider.nullish(), {
  error: (issue) =>
    issue.code === 'invalid_key' ? providerIdExpected : 'a mapping from provider ids to their settings',
});

const usdAmount = z
  .string('an amount of USD as text, such as "1.00"')
  .refine((amount) => (parseUsd(amount) ?? -1n) >= 0n, 'an amount of USD as text, such as "1.00"');

const payments = fields({
  processor: oneOf(['none', 'stripe']).nullish(),
  secret_key: credential.nullish(),
  webhook_secret: credential.nullish(),
  api_base: httpAddress.nullish(),
  currency: oneOf(['USD']).nullish(),
});

const notices = fields({
  low_balance_usd: usdAmount.nullish(),
  webhook: fields({ url: httpAddress.nullish(), secret: credential.nullish() }).nullish(),
  interval: duration.nullish(),
});

export const configSchema = fields({
  server: server.nullish(),
  storage: storage.nullish(),
  workers: integerFrom(1, 1024).nullish(),
  demo: yesOrNo.nullish(),
  registration: oneOf(['open', 'closed']).nullish(),
  welcome_credit_usd: usdAmount.nullish(),
  admin_token: adminToken.nullish(),
  catalogue: listOf(text, 'catalogue files and `builtin`').nullish(),
  limits: limits.nullish(),
  timeouts: timeouts.nullish(),
  breaker: breaker.nullish(),
  territories: fields({ sanctioned: sanctioned.nullish() }).nullish(),
  providers: providers.nullish(),
  payments: payments.nullish(),
  notices: notices.nullish(),
});

export type ConfigFile = z.infer<typeof configSchema>;
