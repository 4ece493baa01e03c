/** Scans what the requests of all client APIs with a body of their own have in common, and the types that several of them use. */

import { decodeOnce } from '../base/latin1.js';
import { modelIdMax } from '../wire/chat-request.js';
import { JsonScanner, SeenNames } from '../wire/json-scanner.js';
import { nestingMax } from '../wire/json-text.js';
import { ObjectScan, scanWhole, type ValueScan } from '../wire/scan-object.js';
import { isOrdinaryTier } from '../wire/usage.js';

/** A body that was scanned. Its text is latin1. */
export interface ScannedBody {
  readonly text: string;
  readonly model: string;
  /** Where the value of `model` begins and ends. */
  readonly modelStart: number;
  readonly modelEnd: number;
  /** Where the brace is that closes the body. */
  readonly end: number;
  readonly stream: boolean;
}

/** Used again for each request. Two requests are never scanned at once. */
export class RequestScan {
  private readonly json = new JsonScanner();
  private readonly names: SeenNames;
  private model = '';
  private modelStart = 0;
  private modelEnd = 0;
  private stream = false;

  /** `expected` are at most 29 names; `scanOther` takes the value of a member, and returns false where it is unusual. */
  constructor(
    expected: readonly string[],
    private readonly scanOther: (name: string, json: JsonScanner, levels: number) => boolean,
  ) {
    this.names = new SeenNames(['model', 'stream', ...expected]);
  }

  /** null where the body is unusual. */
  scan(bytes: Buffer): ScannedBody | null {
    const { json } = this;
    if (!json.open(bytes)) return null;
    this.model = '';
    this.stream = false;
    const end = scanWhole(json, this.names, this.scanMember);
    const { text } = json;
    json.close();
    const { model, modelStart, modelEnd, stream } = this;
    return end === -1 || model === '' ? null : { text, model, modelStart, modelEnd, end, stream };
  }

  /** Whether the body has a member of an expected name. */
  has(name: string): boolean {
    return this.names.has(name);
  }

  private readonly scanMember = (name: string): boolean => {
    const { json } = this;
    switch (name) {
      case 'model': {
        this.modelStart = json.at;
        const start = json.takePlainString();
        if (start === -1 || json.at - start > modelIdMax) return false;
        this.model = decodeOnce(json.text.slice(start, json.at - 1));
        json.peek();
        this.modelEnd = json.at;
        return true;
      }
      case 'stream':
        this.stream = json.peek() === 0x74;
        return json.takeWord('true') || json.takeWord('false');
      default:
        return this.scanOther(name, json, nestingMax - 1);
    }
  };
}

/** An object of a request. Names in other case than those of its rules are left to the parser, because some providers ignore case. */
export class RequestObject extends ObjectScan {
  constructor(rules: Readonly<Record<string, ValueScan>>) {
    super(rules, true);
  }
}

/** A whole number of 1 or more; undefined where there is none. */
export function takeLimit(json: JsonScanner): number | undefined {
  const value = json.takeNumber();
  return Number.isInteger(value) && value >= 1 ? value : undefined;
}

/** A number from 0 to `high`. */
export function takeRange(json: JsonScanner, high: number): boolean {
  const value = json.takeNumber();
  return value >= 0 && value <= high;
}

/** The name of the tier that has the ordinary price. */
export function takeOrdinaryTier(json: JsonScanner): boolean {
  const start = json.takePlainString();
  return start !== -1 && isOrdinaryTier(json.text.slice(start, json.at - 1));
}
