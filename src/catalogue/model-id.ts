/** What a model id says, told from its text alone. It runs for every request, so it only slices. */
import type { JsonSchema } from '../base/json-schema.js';

export interface ExplicitId {
  readonly kind: 'explicit';
  readonly provider: string;
  readonly creator: string;
  readonly model: string;
  /** Lower case; null = the provider's default region for the model. */
  readonly locode: string | null;
}

export interface AutoId {
  readonly kind: 'auto';
  readonly creator: string;
  readonly model: string;
}

/** The name is whatever follows `alias/`; whether it keeps the naming rule is the alias's own check (`invalid_alias_name`). */
export interface AliasId {
  readonly kind: 'alias';
  readonly name: string;
}

export interface InvalidId {
  readonly kind: 'invalid';
  /** Continues the sentence `The model id "…" `. */
  readonly reason: string;
  readonly segments: number;
}

export type ModelId = ExplicitId | AutoId | AliasId | InvalidId;

/** The naming rule of an alias. */
export const aliasNameRule = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** A text that `parseModelId` can tell the meaning of. */
export const modelIdSchema: JsonSchema = {
  anyOf: [
    { type: 'string', pattern: '^[^/]+/[^/]+/[^/]+(/[^/]+)?$', not: { pattern: '^(auto|alias)/' } },
    { type: 'string', pattern: '^auto/[^/]+/[^/]+$' },
    { type: 'string', pattern: `^alias/${aliasNameRule.source.slice(1)}` },
  ],
};

const aliasPrefix = 'alias/';
const excerptMax = 100;

export function parseModelId(text: string): ModelId {
  if (text.startsWith(aliasPrefix)) return { kind: 'alias', name: text.slice(aliasPrefix.length) };
  const first = text.indexOf('/');
  const second = first < 0 ? -1 : text.indexOf('/', first + 1);
  if (second < 0) return misshapen(text);
  const third = text.indexOf('/', second + 1);
  const provider = text.slice(0, first);
  const creator = text.slice(first + 1, second);
  const model = third < 0 ? text.slice(second + 1) : text.slice(second + 1, third);
  if (provider === '' || creator === '' || model === '') return misshapen(text);
  if (third < 0) {
    return provider === 'auto'
      ? { kind: 'auto', creator, model }
      : { kind: 'explicit', provider, creator, model, locode: null };
  }
  const locode = text.slice(third + 1);
  if (provider === 'auto' || locode === '' || locode.includes('/')) return misshapen(text);
  return { kind: 'explicit', provider, creator, model, locode: locode.toLowerCase() };
}

/** The id as it was written, short enough for a message and without control characters. */
export function idExcerpt(text: string): string {
  const start = text.length > excerptMax ? `${text.slice(0, excerptMax)}…` : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return start.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd');
}

function misshapen(text: string): InvalidId {
  const segments = segmentsOf(text);
  const count = `has ${segments} segment${segments === 1 ? '' : 's'}`;
  const isAuto = text.startsWith('auto/') || text === 'auto';
  if (isAuto && segments !== 3) {
    return { kind: 'invalid', segments, reason: `${count}, but an auto/ id takes exactly 3 (it has no region)` };
  }
  if (segments < 3 || segments > 4) return { kind: 'invalid', segments, reason: `${count}, but needs 3 or 4` };
  const empty = text.split('/').indexOf('') + 1;
  return { kind: 'invalid', segments, reason: `${count}, but segment ${empty} of them is empty` };
}

function segmentsOf(text: string): number {
  let segments = text === '' ? 0 : 1;
  for (let at = text.indexOf('/'); at >= 0; at = text.indexOf('/', at + 1)) segments++;
  return segments;
}
