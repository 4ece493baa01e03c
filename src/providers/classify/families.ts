/**
 * Codes and statuses that have a special meaning at one family of providers. Providers that are not listed are read by their
 * words alone.
 */
import type { Meaning } from './failure.js';

export interface Family {
  /** Matches the provider's id or the host of its address. */
  named: RegExp;
  /** Exact codes; they decide. */
  codes?: Readonly<Record<string, Meaning>>;
  /** What a status means where neither codes nor words decide. */
  statuses?: Readonly<Record<number, Meaning>>;
}

const families: Readonly<Record<string, Family>> = {
  // The flex tier is full: https://console.groq.com/docs/flex-processing
  groq: { named: /\bgroq\b/, statuses: { 498: 'capacity' } },
  // 498 is a blocked prompt: https://github.com/cohere-ai/cohere-developer-experience/issues/189
  cohere: { named: /\bcohere\b/, statuses: { 498: 'rejected', 499: 'server_error' } },
  // 504 is a full queue, 410 a model that was removed: https://docs.sambanova.ai/cloud/api-reference/using-the-api/api-error-codes
  sambanova: { named: /sambanova/, statuses: { 504: 'capacity', 410: 'unknown_model' } },
  // The model is not loaded yet: https://featherless.ai/docs/api-reference-error-codes
  featherless: { named: /featherless/, statuses: { 400: 'capacity' } },
  // Too many max_completion_tokens: fixing-common-issues.mdx in https://github.com/scaleway/docs-content
  scaleway: { named: /scaleway|\bscw\b/, statuses: { 416: 'rejected' } },
  // The account is suspended: https://docs.fireworks.ai/guides/inference-error-codes
  fireworks: { named: /fireworks/, statuses: { 412: 'billing' } },
  // The server is overloaded: https://api-docs.deepseek.com/quick_start/error_codes
  deepseek: { named: /deepseek/, statuses: { 503: 'capacity' } },
  mistral: { named: /mistral/, codes: { 1300: 'rate_limit', 3505: 'capacity' } },
  cloudflare: {
    named: /cloudflare|workers-?ai/,
    codes: {
      3036: 'quota',
      3040: 'capacity',
      3042: 'unknown_model',
      5007: 'unknown_model',
      7000: 'unknown_model',
      7003: 'unknown_model',
      9109: 'auth',
      10000: 'auth',
      3007: 'server_error',
      3008: 'server_error',
      3006: 'rejected',
      5004: 'rejected',
      5006: 'rejected',
      5021: 'rejected',
    },
  },
  minimax: {
    named: /minimax/,
    codes: {
      1002: 'rate_limit',
      1004: 'auth',
      1008: 'billing',
      1026: 'rejected',
      1027: 'rejected',
      1039: 'rate_limit',
      1041: 'capacity',
      1042: 'rejected',
      2013: 'rejected',
      2045: 'rate_limit',
      2049: 'auth',
      2056: 'billing',
    },
  },
  zhipu: {
    named: /zhipu|bigmodel|\bz\.?-?ai\b|\bglm\b/,
    codes: {
      1113: 'billing',
      1210: 'rejected',
      1211: 'unknown_model',
      1212: 'rejected',
      1213: 'rejected',
      1214: 'rejected',
      1261: 'rejected',
      1301: 'rejected',
      1302: 'capacity',
      1303: 'rate_limit',
      1304: 'quota',
      1305: 'capacity',
      1308: 'billing',
      1309: 'billing',
      1310: 'billing',
    },
  },
  baidu: {
    named: /baidu|qianfan|ernie/,
    codes: {
      4: 'rate_limit',
      6: 'auth',
      17: 'quota',
      18: 'rate_limit',
      19: 'billing',
      110: 'auth',
      111: 'auth',
      336003: 'rejected',
      336006: 'rejected',
      336007: 'rejected',
      336100: 'capacity',
      336103: 'rejected',
      336501: 'rate_limit',
      336502: 'rate_limit',
    },
  },
  siliconflow: {
    named: /siliconflow|siliconcloud/,
    codes: {
      20012: 'unknown_model',
      20015: 'rejected',
      30001: 'billing',
      30003: 'unknown_model',
      50505: 'capacity',
      50603: 'capacity',
    },
  },
};

/** By the shape of the error where only one family uses it, else by the provider's id, else by the host. */
export function familyOf(shape: string | undefined, providerId: string, baseUrl: string): Family | undefined {
  if (shape !== undefined) return families[shape];
  const host = /^https?:\/\/([^/?#]+)/i.exec(baseUrl)?.[1] ?? '';
  for (const name of [providerId.toLowerCase(), host.toLowerCase()]) {
    const found = Object.values(families).find(({ named }) => named.test(name));
    if (found) return found;
  }
  return undefined;
}

export function meaningOfCode(family: Family | undefined, codes: readonly string[]): Meaning | undefined {
  const { codes: known } = family ?? {};
  if (!known) return undefined;
  const code = codes.find((candidate) => Object.hasOwn(known, candidate));
  return code === undefined ? undefined : known[code];
}
