/**
 * What Lodestone does with each field of a client API. One table for each API decides what is refused, how a field is scanned and checked,
 * and what docs/guide/fields.md says. A field that no table has is passed to the provider as it is.
 */
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { readable, shown, type TextEncoding } from '../wire/json-text.js';
import { leftToParser, type Rule } from './rules.js';

/** `read`: by Lodestone, which may write it anew. `stored`: may name what the provider keeps for the operator's account (stored-objects.ts). */
type Treatment = 'passed' | 'priced' | 'refused' | 'stored' | 'read';

export interface Field {
  readonly does: Treatment;
  /** For the docs. */
  readonly why: string;
  /** Whose field it is, where the packages that the table is compared with do not have it. */
  readonly from?: string;
  /** What is wrong with the value, and what to do; null where it asks for nothing. */
  readonly refusalOf?: (value: unknown, name: string) => string | null;
  /** The parser looks into the value, so a scan does not take it unless there is a rule for it. */
  readonly isParsed?: true;
  /** What its value may be; absent where the provider is the judge. */
  readonly rule?: Rule;
}

/** A field as a scan of the body meets it. */
interface ScannedField {
  readonly name: string;
  /** Of its own among the fields with a rule. */
  readonly bit: number;
  readonly scan: Rule['scan'];
}

type Fields = Readonly<Record<string, unknown>>;

export class FieldTable {
  readonly fields: ReadonlyMap<string, Field>;
  /** The fields that a scan does not pass as they are: at most 31 with a rule, and those that the parser alone reads. */
  readonly scanned: ReadonlyMap<string, ScannedField>;
  private readonly ruled: readonly (readonly [name: string, rule: Rule])[];

  constructor(fields: Readonly<Record<string, Field>>) {
    this.fields = new Map(Object.entries(fields));
    this.ruled = [...this.fields].flatMap(([name, { rule }]) => (rule ? [[name, rule] as const] : []));
    const left = [...this.fields].filter(([, { rule, refusalOf, isParsed }]) => !rule && (refusalOf || isParsed));
    this.scanned = new Map([
      ...left.map(([name]) => [name, { name, bit: 0, scan: leftToParser }] as const),
      ...this.ruled.map(([name, { scan }], index) => [name, { name, bit: 1 << index, scan }] as const),
    ]);
  }

  ruleOf(name: string): Rule | undefined {
    return this.fields.get(name)?.rule;
  }

  /** Throws where the value of a field breaks its rule: in the order of the table, types first. */
  checkValues(sent: Fields, encoding: TextEncoding): void {
    for (const [name, { check }] of this.ruled) if (sent[name] !== undefined) check?.(sent[name], name, encoding);
    for (const [name, { checkInside }] of this.ruled) {
      if (sent[name] !== undefined) checkInside?.(sent[name], name, encoding);
    }
  }

  /** Throws where a field is refused, or where a name is another spelling of one. */
  check(sent: Fields, encoding: TextEncoding): void {
    for (const name in sent) {
      const field = this.fields.get(name);
      if (field === undefined) this.checkSpelling(name, encoding);
      else if (field.refusalOf !== undefined) {
        const value = sent[name];
        const what = value === null || value === undefined ? null : field.refusalOf(value, name);
        if (what !== null) throw refusal(name, what);
      }
    }
  }

  private checkSpelling(name: string, encoding: TextEncoding): void {
    const meant = otherSpelling(name, encoding);
    if (meant !== null && this.fields.has(meant)) throw spellingError(name, meant, encoding);
  }
}

/** Whether a name has no capital and no character beyond ASCII. */
export function isLowerCase(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if ((code >= 0x41 && code <= 0x5a) || code >= 0x80) return false;
  }
  return true;
}

/** A longer name is no spelling of a field. */
const nameMax = 128;

/**
 * The name in lower case; null where it is that already. Readers that ignore case also take ſ for s and the sign of Kelvin for k (Go), and
 * an i with or without its dot for i (Java).
 */
function otherSpelling(name: string, encoding: TextEncoding): string | null {
  if (name.length > nameMax || isLowerCase(name)) return null;
  return readable(name, encoding).normalize('NFKC').toLowerCase().replaceAll('\u0307', '').replaceAll('\u0131', 'i');
}

/** `place` is where the name stands, for one that is not a field of the body itself: `tools[0]`. */
function spellingError(name: string, meant: string, encoding: TextEncoding, place?: string): GatewayError {
  const sent = shownName(name, encoding);
  const where = place === undefined ? sent : `${place}.${sent}`;
  const param = place === undefined ? sent : place.replace(/[[.].*$/s, '');
  const what = `\`${where}\` is another spelling of \`${meant}\`, which some providers take for the same. Write it in lower case.`;
  return refusal(param, what);
}

/** Names in messages, items, parts and tools on which a price, a refusal or the text of the prompt depends. */
const innerNames: ReadonlySet<string> = new Set([
  ...['type', 'role', 'content', 'output', 'source', 'file', 'file_id', 'audio', 'input_audio', 'id', 'tools'],
  ...['function', 'name', 'container', 'environment', 'vector_store_ids'],
]);

/** Throws where an object has another spelling of such a name. `placeOf` is called only then. */
export function checkInnerNames(
  holder: Fields,
  placeOf: () => string,
  encoding: TextEncoding,
  names: ReadonlySet<string> = innerNames,
): void {
  for (const name in holder) {
    if (isLowerCase(name)) continue;
    const meant = otherSpelling(name, encoding);
    if (meant !== null && names.has(meant)) throw spellingError(name, meant, encoding, placeOf());
  }
}

/** A name for a message, cut to the length of a line. */
export function shownName(name: string, encoding: TextEncoding): string {
  return shown(name, encoding).replace(/^"|"$/g, '').replace(/"…$/, '…');
}

export function refusal(param: string, what: string): GatewayError {
  return gatewayError('request_invalid', { param, what });
}

export const passed = (why = 'As sent.', from?: string): Field => ({ does: 'passed', why, ...(from && { from }) });
export const priced = (why: string): Field => ({ does: 'priced', why, isParsed: true });
export const read = (why: string, from?: string): Field => ({ does: 'read', why, ...(from && { from }) });
/** For the fields that are Lodestone's own. */
const ours = (why: string): Field => ({ ...read(why, 'Lodestone'), isParsed: true });

/** `what` is the message; by default every value but null is refused. */
export function refused(
  why: string,
  what: string,
  { from, asks = () => true }: { from?: string; asks?: (value: unknown) => boolean } = {},
): Field {
  const refusalOf = (value: unknown, name: string): string | null => (asks(value) ? `\`${name}\` ${what}` : null);
  return { does: 'refused', why, refusalOf, ...(from && { from }) };
}

/** For a field of other servers that no provider of this kind gets. */
export const unknownHere = (from?: string): Field =>
  refused('No provider gets it.', 'is not a field of this API. Leave it out.', from ? { from } : {});

const isFilled = (value: unknown): boolean => !Array.isArray(value) || value.length > 0;
const isOn = (value: unknown): boolean => value !== false;

const otherModels = (from?: string): Field =>
  refused(
    'The answer of another model would come under the id, the price and the receipt of this one.',
    'lets the provider answer with another model than the one that you ask for. Leave it out, and name the models in `fallback.models`.',
    { asks: isFilled, ...(from && { from }) },
  );

/** Fields that only Lodestone reads. */
export const routing: Readonly<Record<string, Field>> = {
  fallback: ours('The models to try after `model`. Not sent.'),
  provider: ours('Wishes for the route. Not sent.'),
  session_id: ours('Names the conversation. Not sent.'),
};

/** Fields that every API in which models chat treats alike. */
export const chatting: Readonly<Record<string, Field>> = {
  ...routing,
  fallbacks: otherModels('Anthropic'),
  models: otherModels('OpenRouter'),
  plugins: refused(
    'Runs paid tools and may choose another model.',
    'lets the provider run paid tools or choose another model. Leave it out.',
    { from: 'OpenRouter', asks: isFilled },
  ),
  preset: refused(
    'Brings a model and a provider of the operator’s account.',
    'lets the provider choose the model and the prompt from the operator’s account. Leave it out, and send them yourself.',
    { from: 'OpenRouter’s presets' },
  ),
  inference_geo: refused(
    'The model id says the region.',
    'chooses the region, which the model id does here. Leave it out, and choose a route in the region that you want.',
    { from: 'Anthropic' },
  ),
  data_sources: refused(
    'Reads stores with the operator’s rights.',
    'makes the provider read data with the operator’s rights. Leave it out, and send the text yourself.',
    { from: 'Azure', asks: isFilled },
  ),
  search_parameters: refused(
    'A search that the provider bills and Lodestone has no price for.',
    'asks for a search that has no price here. Leave it out, or send a tool that searches.',
    { from: 'xAI', asks: (value) => (value as { mode?: unknown }).mode !== 'off' },
  ),
  enable_search: refused(
    'A search that the provider bills and Lodestone has no price for.',
    'asks for a search that has no price here. Leave it out, or send a tool that searches.',
    { from: 'Alibaba', asks: isOn },
  ),
  deferred: refused(
    'The answer would be fetched later, and Lodestone stores none.',
    'asks for an answer that is fetched later, but Lodestone stores none. Leave it out.',
    { from: 'xAI', asks: isOn },
  ),
};
