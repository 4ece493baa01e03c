/** Parses model ids. It runs for every request, so it only slices the text. */
import type { JsonSchema } from '../base/json-schema.js';

export interface ExplicitId {
  readonly kind: 'explicit';
  readonly provider: string;
  readonly creator: string;
  readonly model: string;
  /** In lower case; null = the provider's default region for the model. */
  readonly locode: string | null;
}

interface AutoId {
  readonly kind: 'auto';
  readonly creator: string;
  readonly model: string;
}

/** The name is everything after `alias/`. The naming rule is checked later (`invalid_alias_name`). */
interface AliasId {
  readonly kind: 'alias';
  readonly name: string;
}

interface InvalidId {
  readonly kind: 'invalid';
  /** The end of a sentence that begins with `The model id "…" `. */
  readonly reason: string;
  readonly segments: number;
}

export type ModelId = ExplicitId | AutoId | AliasId | InvalidId;

/** The naming rule of an alias. */
export const aliasNameRule = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The JSON schema of ids that `parseModelId` accepts. */
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
  if (second < 0) return invalidIdOf(text);
  const third = text.indexOf('/', second + 1);
  const provider = text.slice(0, first);
  const creator = text.slice(first + 1, second);
  const model = third < 0 ? text.slice(second + 1) : text.slice(second + 1, third);
  if (provider === '' || creator === '' || model === '') return invalidIdOf(text);
  if (third < 0) {
    return provider === 'auto'
      ? { kind: 'auto', creator, model }
      : { kind: 'explicit', provider, creator, model, locode: null };
  }
  const locode = text.slice(third + 1);
  if (provider === 'auto' || locode === '' || locode.includes('/')) return invalidIdOf(text);
  return { kind: 'explicit', provider, creator, model, locode: locode.toLowerCase() };
}

/** The id for a message: cut to a length, and without control characters. */
export function idExcerpt(text: string): string {
  const start = text.length > excerptMax ? `${text.slice(0, excerptMax)}…` : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return start.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd');
}

function invalidIdOf(text: string): InvalidId {
  const segments = segmentCount(text);
  const count = `has ${segments} segment${segments === 1 ? '' : 's'}`;
  const isAuto = text.startsWith('auto/') || text === 'auto';
  if (isAuto && segments !== 3) {
    return { kind: 'invalid', segments, reason: `${count}, but an auto/ id takes exactly 3 (it has no region)` };
  }
  if (segments < 3 || segments > 4) return { kind: 'invalid', segments, reason: `${count}, but needs 3 or 4` };
  const empty = text.split('/').indexOf('') + 1;
  return { kind: 'invalid', segments, reason: `${count}, but segment ${empty} of them is empty` };
}

function segmentCount(text: string): number {
  let segments = text === '' ? 0 : 1;
  for (let at = text.indexOf('/'); at >= 0; at = text.indexOf('/', at + 1)) segments++;
  return segments;
}
