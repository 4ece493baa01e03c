/** Scans the usual request of a client API in one pass over its text: checks that it is valid JSON, and each field by its rule. */
import { decodeOnce } from '../base/latin1.js';
import { modelIdMax } from '../wire/chat-request.js';
import { JsonScanner } from '../wire/json-scanner.js';
import { nestingMax } from '../wire/json-text.js';
import { type FieldTable, isLowerCase } from './field-table.js';
import type { Rule } from './rules.js';
import type { OwnFields } from './translated-request.js';

const openBrace = 0x7b;
const closeBrace = 0x7d;
/** A body with more names without a rule is unusual. */
const othersMax = 32;

/** The text is a copy, which keeps no body in memory. `model` is checked before all other fields. */
export const modelRule: Rule = {
  scan: (json) => {
    const start = json.takePlainString();
    return start === -1 || json.at - start > modelIdMax ? undefined : decodeOnce(json.text.slice(start, json.at - 1));
  },
};

/** The scan of one body, and what it finds. */
export abstract class RequestScan {
  protected readonly json = new JsonScanner();
  model = '';
  /** Where the value of `model` begins and ends. */
  modelStart = 0;
  modelEnd = 0;
  stream = false;
  /** Where the brace is that closes the body. */
  end = 0;
  /** The fields with a rule that were there. */
  private seen = 0;
  private others: string[] | undefined;

  constructor(private readonly fields: FieldTable) {}

  /** The text, in latin1, is kept no longer than this. */
  get text(): string {
    return this.json.text;
  }

  has(name: string): boolean {
    return (this.seen & this.fields.scanned.get(name)!.bit) !== 0;
  }

  /** False for anything unusual, and for everything that is not valid: the body is then parsed, which gives the same or refuses. */
  scan(bytes: Buffer): boolean {
    const { json, fields } = this;
    if (!json.open(bytes) || !json.take(openBrace)) return false;
    for (;;) {
      json.peek();
      const start = json.at;
      const key = json.takeKey();
      if (key === -1) return false;
      const name = json.text.slice(key, json.keyEnd);
      const field = fields.scanned.get(name);
      if (field === undefined) {
        if (!this.skipOther(name)) return false;
        this.take('', undefined, start);
      } else {
        if ((this.seen & field.bit) !== 0) return false;
        this.seen |= field.bit;
        const valueStart = json.at;
        const value = field.scan(json, nestingMax - 1);
        if (value === undefined) return false;
        if (field.name === 'model') this.takeModel(value as string, valueStart);
        else if (field.name === 'stream') this.stream = value as boolean;
        this.take(field.name, value, start);
      }
      const next = json.takeNext(closeBrace);
      if (next === 'more') continue;
      this.end = json.at - 1;
      return next === 'end' && json.isAtEnd() && this.model !== '';
    }
  }

  /** What a request of another API than chat completions says of itself, where it is the usual one. */
  ownFields(outputMax: number | undefined, cacheKey: string | undefined): OwnFields {
    const { model, stream } = this;
    const extras = undefined;
    const provider = undefined;
    const sessionId = undefined;
    const fallback = null;
    const responseFormat = null;
    const encoding = 'latin1';
    return { model, stream, responseFormat, fallback, encoding, outputMax, extras, provider, sessionId, cacheKey };
  }

  /** Takes what the rule of a field returned; a field without a rule has no name here. The member begins at `start`. */
  protected abstract take(name: string, value: unknown, start: number): void;

  private takeModel(model: string, start: number): void {
    this.model = model;
    this.modelStart = start;
    this.json.peek();
    this.modelEnd = this.json.at;
  }

  /** A field without a rule. It comes once, and is no other spelling of one that has a rule. */
  private skipOther(name: string): boolean {
    this.others ??= [];
    if (!isLowerCase(name) || this.others.includes(name) || this.others.push(name) > othersMax) return false;
    return this.json.skipValue(nestingMax - 1);
  }
}
