/** Scans the members that whole answers of the client's own API have in common, for the bill and for the door that passes them on. */
import { asLatin1 } from '../../../base/latin1.js';
import { figuresBytesMax } from '../../../wire/answer-bounds.js';
import type { AnswerPlaces, CompletionParts } from '../../../wire/completion-parts.js';
import { JsonScanner, SeenNames } from '../../../wire/json-scanner.js';
import { scanWhole, takeObject } from '../../../wire/scan-object.js';
import { isEmptyUsage, readUsage } from '../../../wire/usage.js';
import type { UsageTerms } from '../../../wire/usage-types.js';
import type { Fields } from './conversation.js';

const levelsMax = 64;

/** What an API knows of its own answers. */
interface AnswerRules {
  /** The names that its answers usually have. */
  readonly names: readonly string[];
  /** Names without which an answer is unusual, besides `model` and `usage`. */
  readonly needed: readonly string[];
  /** Before an answer is scanned. */
  begin(): void;
  /** Takes the value of a member; false where the answer is unusual. */
  scanMember(name: string, json: JsonScanner, levels: number): boolean;
  /** After all members: their usage as one of a completion; undefined where it has no figures. */
  usageOf(usage: Fields): Fields | undefined;
  finishReason(): string;
}

/** Used again for each answer. Two answers are never scanned at once. */
export class AnswerScan {
  private readonly json = new JsonScanner();
  private readonly names: SeenNames;
  private model = '';
  private modelStart = 0;
  private modelEnd = 0;
  private usageStart = 0;
  private usageEnd = 0;

  constructor(private readonly rules: AnswerRules) {
    this.names = new SeenNames(['model', 'usage', ...rules.names]);
  }

  /** null where the answer is unusual, or not valid: it is then parsed. */
  scan(body: Buffer, terms: UsageTerms): CompletionParts | null {
    const { json, rules, names } = this;
    // Some providers write their answers in several lines.
    if (!json.open(body, true)) return null;
    rules.begin();
    const end = scanWhole(json, names, this.scanMember);
    const { text } = json;
    json.close();
    if (end === -1 || !names.has('model') || !names.has('usage')) return null;
    for (const name of rules.needed) if (!names.has(name)) return null;
    const usage = rules.usageOf(JSON.parse(text.slice(this.usageStart, this.usageEnd)) as Fields);
    const reading = readUsage(usage, terms, undefined);
    // Without usage the text of the answer is counted.
    if (isEmptyUsage(reading)) return null;
    return {
      members: '',
      encoding: 'latin1',
      native: text,
      places: this.placesBefore(end),
      usage,
      reading,
      usageText: undefined,
      answeredModel: this.model,
      finishReason: rules.finishReason(),
      delivered: asLatin1(''),
    };
  }

  private placesBefore(end: number): AnswerPlaces {
    const { modelStart, modelEnd, usageStart, usageEnd } = this;
    return { modelStart, modelEnd, usageStart, usageEnd, end };
  }

  private readonly scanMember = (name: string): boolean => {
    const { json } = this;
    switch (name) {
      case 'model': {
        this.modelStart = json.at;
        const start = json.takePlainString();
        if (start === -1 || json.at - start > figuresBytesMax) return false;
        this.model = json.text.slice(start, json.at - 1);
        json.peek();
        this.modelEnd = json.at;
        return true;
      }
      case 'usage':
        this.usageStart = json.at;
        if (!takeObject(json, levelsMax)) return false;
        json.peek();
        this.usageEnd = json.at;
        return this.usageEnd - this.usageStart <= figuresBytesMax;
      // The gateway's own member, which it would replace.
      case 'router_metadata':
        return false;
      case 'error':
        json.peek();
        return json.takeWord('null');
      default:
        return this.rules.scanMember(name, json, levelsMax);
    }
  };
}
