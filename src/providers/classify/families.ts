/**
 * Codes and statuses that have a special meaning at one family of providers. Providers that are not listed are read by their
 * words alone.
 */
import type { Meaning } from './failure.js';

export interface Family {
  /** Matches the provider's id or the host of its address. */
  named: RegExp;
  /** Exact codes by what they mean; they decide. */
  codes?: Readonly<Partial<Record<Meaning, readonly number[]>>>;
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
  mistral: { named: /mistral/, codes: { rate_limit: [1300], capacity: [3505] } },
  cloudflare: {
    named: /cloudflare|workers-?ai/,
    codes: {
      quota: [3036],
      capacity: [3040],
      unknown_model: [3042, 5007, 7000, 7003],
      auth: [9109, 10000],
      server_error: [3007, 3008],
      rejected: [3006, 5004, 5006, 5021],
    },
  },
  minimax: {
    named: /minimax/,
    codes: {
      rate_limit: [1002, 1039, 2045],
      auth: [1004, 2049],
      billing: [1008, 2056],
      rejected: [1026, 1027, 1042, 2013],
      capacity: [1041],
    },
  },
  zhipu: {
    named: /zhipu|bigmodel|\bz\.?-?ai\b|\bglm\b/,
    codes: {
      billing: [1113, 1308, 1309, 1310],
      rejected: [1210, 1212, 1213, 1214, 1261, 1301],
      unknown_model: [1211],
      capacity: [1302, 1305],
      rate_limit: [1303],
      quota: [1304],
    },
  },
  baidu: {
    named: /baidu|qianfan|ernie/,
    codes: {
      rate_limit: [4, 18, 336501, 336502],
      auth: [6, 110, 111],
      quota: [17],
      billing: [19],
      rejected: [336003, 336006, 336007, 336103],
      capacity: [336100],
    },
  },
  siliconflow: {
    named: /siliconflow|siliconcloud/,
    codes: { unknown_model: [20012, 30003], rejected: [20015], billing: [30001], capacity: [50505, 50603] },
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
  const known = Object.entries(family?.codes ?? {}) as [Meaning, readonly number[]][];
  for (const code of codes) {
    const found = known.find(([, list]) => list.some((each) => String(each) === code));
    if (found) return found[0];
  }
  return undefined;
}
