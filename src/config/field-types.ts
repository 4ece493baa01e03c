/** What the fields of the configuration file accept that no other file needs. */
import { z } from 'zod';
import { canonicalRange } from '../base/ip-address.js';
import { parseUsd } from '../base/money.js';
import {
  credential,
  duration,
  field,
  fields,
  httpAddress,
  integerFrom,
  listOf,
  readCredential,
  territory,
  text,
} from '../base/yaml-fields.js';

export const port = integerFrom(0, 65_535);
export const host = field('a host name or address', (value) =>
  typeof value === 'string' && /^[^\s/]+$/.test(value) ? value : undefined,
);
export const databaseUrl = addressOf('a postgres:// or postgresql:// address', /^postgres(ql)?:\/\/\S+$/i);

const redisForm = /^(rediss?:\/\/|unix:\/)\S+$/i;
const redisNodeForm = /^rediss?:\/\/\S+$/i;
/** One server, or nodes of a cluster as a list. A variable and a file have the list as text, with commas, blanks or line breaks between. */
export const redisUrl = field(
  'a redis://, rediss:// or unix:/ address, or a list of redis:// or rediss:// addresses',
  (value): string | string[] | undefined => {
    if (typeof value === 'string') {
      const texts = value.trim().split(/[\s,]+(?=rediss?:\/\/)/i);
      if (texts.length === 1) return redisForm.test(texts[0]!) ? texts[0] : undefined;
      return nodesOf(texts);
    }
    return Array.isArray(value) && value.length > 0 ? nodesOf(value) : undefined;
  },
  true,
);

function nodesOf(values: readonly unknown[]): string[] | undefined {
  const nodes = values.map((value) => (typeof value === 'string' ? value.trim() : ''));
  return nodes.every((node) => redisNodeForm.test(node)) ? nodes : undefined;
}

const redisTimeoutMsMax = 1_000;
/** A change is acknowledged without Redis after three seconds, so every process has to notice a silent one well before. */
export const redisTimeout = field('a duration from 1ms to 1s', (value) => {
  const parsed = duration.safeParse(value);
  return parsed.success && parsed.data <= redisTimeoutMsMax ? parsed.data : undefined;
});

/** Long enough that guessing is hopeless: failed attempts are limited for each address, and an attacker has many addresses. */
export const adminTokenMin = 24;
export const adminTokenExpected = `a token of at least ${adminTokenMin} characters, such as one from: openssl rand -base64 32`;
export const adminToken = field(
  adminTokenExpected,
  (value) => {
    const token = readCredential(value);
    return token !== undefined && token.length >= adminTokenMin ? token : undefined;
  },
  true,
);

/** The address carries a password, so a fault never quotes it. */
function addressOf(expected: string, form: RegExp) {
  return field(
    expected,
    (value) => (typeof value === 'string' && form.test(value.trim()) ? value.trim() : undefined),
    true,
  );
}

/** Only what the gateway uses: scheme, name and password, host, port. */
export const smtpUrl = field(
  'an smtp:// or smtps:// address with a host, such as smtp://user:password@mail.example.com:587',
  (value) => {
    const text = typeof value === 'string' ? value.trim() : '';
    if (!/^smtps?:\/\/\S+$/i.test(text) || !URL.canParse(text)) return undefined;
    const { hostname, pathname, search, hash, username, password } = new URL(text);
    if (hostname === '' || !/^\/?$/.test(pathname) || search !== '' || hash !== '') return undefined;
    return [username, password].every(isEncoded) ? text : undefined;
  },
  true,
);

function isEncoded(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

const mailAddress = '[^\\s<>@,;"]+@[^\\s<>@,;"]+';
const mailSenderForm = new RegExp(`^(?:${mailAddress}|[^<>@,;"\\r\\n]+<${mailAddress}>)$`);
export const mailSender = field('an email address, or a name with one: Lodestone <no-reply@example.com>', (value) =>
  typeof value === 'string' && mailSenderForm.test(value.trim()) ? value.trim() : undefined,
);

export const headerName = field('the name of a header', (value) =>
  typeof value === 'string' && /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(value) ? value.toLowerCase() : undefined,
);

export const addressRange = field('an address range such as 10.0.0.0/8 or fd00::/8', (value) =>
  typeof value === 'string' ? (canonicalRange(value) ?? undefined) : undefined,
);

export const sanctioned = z.unknown().transform((value, context): 'builtin' | string[] => {
  if (value === 'builtin') return value;
  const codes = listOf(territory, 'ISO 3166 codes, or `builtin`').safeParse(value);
  if (codes.success) return codes.data;
  for (const issue of codes.error.issues) {
    context.addIssue({ code: 'custom', message: issue.message, path: [...issue.path] });
  }
  return z.NEVER;
});

const usdExpected = 'an amount of USD as text, such as "1.00"';
export const usdAmount = field(usdExpected, (value) => {
  const pico = typeof value === 'string' ? parseUsd(value) : undefined;
  return pico != null && pico >= 0n ? pico : undefined;
});

/** In units of 10⁻¹² percent. */
export const percentage = field('a percentage as text, such as "0" or "2.5"', (value) => {
  const units = typeof value === 'string' ? parseUsd(value) : undefined;
  return units != null && units >= 0n ? units : undefined;
});

export const retained = field('a number of months such as `13mo`, or `keep`', (value) => {
  if (value === 'keep') return value;
  const months = typeof value === 'string' ? /^([1-9]\d{0,2})mo$/.exec(value)?.[1] : undefined;
  return months === undefined ? undefined : Number(months);
});

export const noticeWebhook = fields({
  url: httpAddress.nullish(),
  secret: credential.nullish(),
  secret_file: text.nullish(),
});

const rateText = field('the USD that one unit costs, a decimal above zero with at most 6 decimals', (value) => {
  const written = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return /^\d{1,9}(\.\d{1,6})?$/.test(written) && Number(written) > 0 ? written : undefined;
});

export const displayCurrency = fields({
  code: field('an ISO 4217 code such as EUR, other than USD', (value) =>
    typeof value === 'string' && /^[A-Z]{3}$/.test(value) && value !== 'USD' ? value : undefined,
  ),
  rate: rateText,
  source: text,
  as_of: field('a date such as 2026-11-18', (value) => (typeof value === 'string' && isDay(value) ? value : undefined)),
});

function isDay(written: string): boolean {
  const atMs = /^\d{4}-\d\d-\d\d$/.test(written) ? Date.parse(`${written}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(written);
}

/** It is the name of the key too, which stands in lines of words and in texts with plus signs. */
export const logOrigin = field('a name without spaces and plus signs, such as llm.example.com/log', (value) =>
  typeof value === 'string' && /^[^\s+]+$/u.test(value) ? value : undefined,
);

const verifierKeyForm = /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+$/u;
/** One key or several, so that a new one can be added before the old one goes. */
export const verifierKeys = field(
  'a verifier key such as catalogue.example.com+1a2b3c4d+AbCd…, or a list of them',
  (value): string[] | undefined => {
    const keys: unknown[] = Array.isArray(value) ? value : [value];
    const isEach = keys.length > 0 && keys.every((key) => typeof key === 'string' && verifierKeyForm.test(key));
    return isEach ? (keys as string[]) : undefined;
  },
);
