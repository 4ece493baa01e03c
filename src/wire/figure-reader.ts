/** Checks the figures of a usage one by one: a count that cannot be true is a fault, and a doubtful one is noted. */
import { shown } from './json-text.js';

/** No context window is nearly this large, so a larger figure is an error of the provider. */
const figureMax = 10_000_000;
const contextWindowsMax = 8;
/** Tokenizers differ a little from the published window; a larger figure is reported to the operator. */
const contextWindowTolerance = 1.1;

/** Reads figures and remembers the first one that cannot be billed, and whether one is implausible. */
export class FigureReader {
  fault: string | null = null;
  aboveContextWindow = false;
  private readonly max: number;
  private readonly plausibleMax: number;

  constructor({ contextWindow }: { readonly contextWindow: number | null }) {
    this.max = Math.max(figureMax, contextWindowsMax * (contextWindow ?? 0));
    this.plausibleMax = contextWindow === null ? Number.POSITIVE_INFINITY : contextWindowTolerance * contextWindow;
  }

  /** A missing figure or null counts as 0. */
  read(name: string, value: unknown): number {
    if (value === undefined || value === null) return 0;
    const figure = this.count(name, value);
    this.bound(name, figure);
    return figure;
  }

  /** A total that is not above the sum of its parts needs no check of its own. */
  readTotal(value: unknown, parts: number): number {
    const total = this.count('total_tokens', value);
    if (total > parts) this.bound('total_tokens', total);
    return total;
  }

  private count(name: string, value: unknown): number {
    const figure = value as number;
    if (!Number.isSafeInteger(figure) || figure < 0) {
      this.fault ??= `its usage says ${name} = ${shown(value, 'utf8').slice(0, 40)}, which is no count of tokens`;
      return 0;
    }
    return figure;
  }

  private bound(name: string, figure: number): void {
    if (figure > this.max) this.fault ??= `its usage says ${name} = ${figure}, above the limit of ${this.max} tokens`;
    if (figure > this.plausibleMax) this.aboveContextWindow = true;
  }
}
