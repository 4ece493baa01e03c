/** Makes an upstream's error text fit for clients: without markup, at most 500 characters, with our credentials and addresses masked. */
import { RecentMap } from '../../base/collections.js';
import type { Provider } from '../../catalogue/route.js';
import { tooDeep } from '../../wire/json-text.js';

const quoteMax = 500;

/** Finds the human-readable message in the error shapes that providers use. */
export function messageIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value.trim() || undefined;
  if (value === null || typeof value !== 'object' || depth > 4) return undefined;
  if (Array.isArray(value)) return value.length > 0 ? messageIn(value[0], depth + 1) : undefined;
  const fields = value as Record<string, unknown>;
  const relayed = relayedMessage(fields.metadata, depth);
  if (relayed) return relayed;
  for (const name of messageNames) {
    const found = messageIn(fields[name], depth + 1);
    if (found) return found;
  }
  return blockedPrompt(fields.promptFeedback);
}

const messageNames =
  'error errors message Message detail msg title description error_msg errorMessage base_resp status_msg'.split(' ');

/** A router's own message only says that its provider failed; the provider's message is in `metadata.raw`. */
function relayedMessage(metadata: unknown, depth: number): string | undefined {
  const { raw } = (metadata ?? {}) as { raw?: unknown };
  if (typeof raw !== 'string') return messageIn(raw, depth + 1);
  try {
    return messageIn(JSON.parse(raw), depth + 1) ?? raw.trim();
  } catch {
    return raw.trim();
  }
}

function blockedPrompt(feedback: unknown): string | undefined {
  const { blockReason } = (feedback ?? {}) as { blockReason?: unknown };
  return typeof blockReason === 'string' ? `the prompt was blocked (${blockReason})` : undefined;
}

export function quoteOf(text: string, provider: Provider, baseUrl: string): string {
  const flat = scrub(withoutMarkup(text), provider, baseUrl).replace(/\s+/g, ' ').trim();
  return flat.length > quoteMax ? `${flat.slice(0, quoteMax - 1).replace(/[\ud800-\udbff]$/, '')}…` : flat;
}

function withoutMarkup(text: string): string {
  if (!/<[a-z!/]/i.test(text)) return text;
  const title = /<title[^<>]*>([^<]*)</i.exec(text)?.[1];
  if (title?.trim()) return title;
  // Each pattern also matches unclosed markup; otherwise an upstream could make the search quadratic.
  return text
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1[^<>]*>?|$)/gi, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<[a-z!/?][^<>]*(?:>|$|(?=<))/gi, ' ')
    .replace(/&[a-z#0-9]+;/gi, ' ');
}

const detailsMax = 4096;

/**
 * `error.details` of an error, with our credentials and addresses masked. Absent where they are no object, are long, or have a name that
 * would have to be masked.
 */
export function detailsIn(body: unknown, provider: Provider, baseUrl: string): object | undefined {
  const { error } = (body ?? {}) as { error?: { details?: unknown } | null };
  const details = error?.details;
  if (details === null || typeof details !== 'object' || Array.isArray(details)) return undefined;
  if (tooDeep(details) || JSON.stringify(details).length > detailsMax) return undefined;
  const clean = (text: string): string => scrub(text, provider, baseUrl);
  let isNameMasked = false;
  const scrubbed: object = JSON.parse(JSON.stringify(details), (name, value) => {
    if (clean(name) !== name) isNameMasked = true;
    return typeof value === 'string' ? clean(value) : value;
  });
  return isNameMasked ? undefined : scrubbed;
}

const secretLike = [
  /\b(?:sk|pk|rk|gsk|xai|key|AIza|hf|nvapi|csk|fw)[-_][A-Za-z0-9*._-]{8,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\bBearer\s+[^\s"']+/gi,
  /\b(?:org|proj|team|acct)[-_][A-Za-z0-9]{6,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b/g,
  /\bya29\.[\w-]+/g,
  // AWS repeats the whole request when it does not accept the signature.
  /\bx-amz-security-token:\s*\S+/gi,
  /\barn:aws[\w-]*:[^\s"',]+/g,
  /\bprojects\/[\w-]+/g,
  /\b(?:team|account|project|organization|tenant)[ /'"]{1,2}[0-9a-f]{8}-[0-9a-f-]{20,40}/gi,
];

/** Errors of the operating system name the address that was looked up or connected to. */
const systemAddress = /\b((?:connect|getaddrinfo) E[A-Z_]+) \S+/g;
const numericAddress = /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g;

function scrub(text: string, provider: Provider, baseUrl: string): string {
  let clean = text;
  if (provider.apiKey) clean = clean.replaceAll(provider.apiKey, '[credential]');
  for (const { apiKey } of provider.keys ?? []) clean = clean.replaceAll(apiKey, '[credential]');
  for (const pattern of secretLike) clean = clean.replace(pattern, '[credential]');
  clean = clean.replace(systemAddress, '$1 [address]').replace(numericAddress, '[address]');
  for (const pattern of addressPatternsOf(baseUrl)) clean = clean.replace(pattern, '[address]');
  return clean;
}

/** By base address, because to make them costs more than to use them. Customers' own credentials bring addresses of their own. */
const addressPatterns = new RecentMap<readonly RegExp[]>(500);

function addressPatternsOf(baseUrl: string): readonly RegExp[] {
  let patterns = addressPatterns.get(baseUrl);
  if (patterns === undefined) {
    const { host, hostname } = hostOf(baseUrl);
    const names = [
      `https?://${escapeRegExp(host)}[^\\s"']*`,
      escapeRegExp(host),
      hostname.includes('.') ? escapeRegExp(hostname) : '',
    ];
    patterns = names.flatMap((name) => (host && name ? [new RegExp(name, 'gi')] : []));
    addressPatterns.set(baseUrl, patterns);
  }
  return patterns;
}

function hostOf(baseUrl: string): { host: string; hostname: string } {
  try {
    return new URL(baseUrl);
  } catch {
    return { host: '', hostname: '' };
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
