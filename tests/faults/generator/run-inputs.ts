/** Turns the generator on a running gateway, on many connections at once, and collects what was not right. */
import { canaryOf, type Family, type Input, type Target } from './input.js';
import { inputOf } from './inputs.js';
import { faultsOf } from './judge.js';
import { Line } from './line.js';

export interface RunOptions {
  url: string;
  seed: number;
  /** The first number, and how many. */
  from: number;
  count: number;
  connections: number;
  target: Target;
  /** Of the account whose good requests are mixed in. */
  honestKey: string;
}

export interface RunFigures {
  inputs: number;
  byFamily: Record<string, number>;
  byStatus: Record<string, number>;
  /** Answers of the chat with a 200: the good requests, and changed bytes that happen to make one. */
  served: number;
  /** Sent again with more patience, because no answer had come when it ended: what these asked may have been done twice. */
  retried: number;
  honestMs: { median: number; p99: number; max: number };
  elapsedMs: number;
}

/** Nothing takes longer than this, or it hangs. */
const answerMs = 5_000;
/** How long an input that may be incomplete is waited for before the caller says that nothing more comes. */
const quietMs = 120;
const failuresMax = 20;

export class InputRun {
  readonly failures: string[] = [];
  private readonly byFamily = new Map<Family, number>();
  private readonly byStatus = new Map<number, number>();
  private readonly honestMs: number[] = [];
  private served = 0;
  private retried = 0;
  private next: number;

  constructor(private readonly options: RunOptions) {
    this.next = options.from;
  }

  async run(): Promise<RunFigures> {
    const startedAt = performance.now();
    const { connections, count } = this.options;
    await Promise.all(Array.from({ length: Math.min(connections, count) }, () => this.worker()));
    const sorted = this.honestMs.sort((a, b) => a - b);
    const at = (part: number) => Math.round((sorted[Math.floor((sorted.length - 1) * part)] ?? 0) * 10) / 10;
    return {
      inputs: count,
      byFamily: Object.fromEntries(this.byFamily),
      byStatus: Object.fromEntries([...this.byStatus].sort(([a], [b]) => a - b)),
      served: this.served,
      retried: this.retried,
      honestMs: { median: at(0.5), p99: at(0.99), max: at(1) },
      elapsedMs: Math.round(performance.now() - startedAt),
    };
  }

  private async worker(): Promise<void> {
    const kept: { hostile?: Line; honest?: Line } = {};
    const { seed, from, count, target, honestKey, url } = this.options;
    while (this.next < from + count && this.failures.length < failuresMax) {
      const number = this.next++;
      const input = inputOf(seed, number, target, honestKey);
      this.byFamily.set(input.family, (this.byFamily.get(input.family) ?? 0) + 1);
      try {
        if (!input.kept) {
          await this.alone(number, input);
          continue;
        }
        const role = input.family === 'valid' ? 'honest' : 'hostile';
        if (!kept[role] || kept[role].ended) kept[role] = await Line.open(url);
        if (await this.onKept(number, input, kept[role])) continue;
        kept[role].leave('close');
        delete kept[role];
      } catch (error) {
        this.fail(number, input, String(error));
      }
    }
    kept.hostile?.leave('close');
    kept.honest?.leave('close');
  }

  /** One whole request: one whole answer. False where the connection cannot be used again. */
  private async onKept(number: number, input: Input, line: Line): Promise<boolean> {
    line.begin(input.methods);
    const startedAt = performance.now();
    await line.send(input.bytes, input.pieceBytes);
    await line.wait(() => line.answers.length > 0 || line.fault !== null, answerMs);
    this.judge(number, input, line);
    if (input.family === 'valid') this.honest(number, input, line, performance.now() - startedAt);
    return line.answers[0]?.headers.connection !== 'close' && line.fault === null && line.answers.length === 1;
  }

  private honest(number: number, input: Input, line: Line, ms: number): void {
    this.honestMs.push(ms);
    if (!line.answers[0]?.body.includes(canaryOf(number))) this.fail(number, input, 'the answer is not its own');
  }

  private async alone(number: number, input: Input, patienceMs = quietMs): Promise<void> {
    const line = await Line.open(this.options.url);
    line.begin(input.methods);
    await line.send(input.bytes, input.pieceBytes);
    if (input.leave) return line.leave(input.leave);
    const closes = input.expected?.closes === true;
    const wanted = closes ? Number.POSITIVE_INFINITY : Math.max(1, input.methods.length);
    await line.wait(() => line.answers.length >= wanted || line.fault !== null, closes ? answerMs : patienceMs);
    const closedByGateway = line.ended;
    line.finish();
    await line.wait(() => false, answerMs);
    line.leave('close');
    // An answer that took longer than the patience was cut off by our own end of the connection.
    if (line.answers.length === 0 && patienceMs === quietMs && !isBlank(input.bytes)) {
      this.retried++;
      return this.alone(number, input, answerMs);
    }
    if (!line.ended) this.fail(number, input, 'the connection hangs');
    if (closes && !closedByGateway) this.fail(number, input, 'the gateway did not close the connection');
    if (!isBlank(input.bytes)) this.judge(number, input, line);
  }

  private judge(number: number, input: Input, line: Line): void {
    if (line.fault !== null) this.fail(number, input, line.fault);
    const { answers: wanted = 1, closes } = input.expected ?? {};
    const found = line.answers.length;
    if (found === 0) this.fail(number, input, 'no answer');
    else if (input.methods.length > 0 && found !== wanted)
      this.fail(number, input, `${found} answers, but ${wanted} are right`);
    if (closes && line.answers.at(-1)?.headers.connection !== 'close')
      this.fail(number, input, 'it does not say that it closes');
    for (const answer of line.answers) {
      this.byStatus.set(answer.status, (this.byStatus.get(answer.status) ?? 0) + 1);
      if (answer.headers['x-generation-id'] !== undefined) this.served++;
      for (const fault of faultsOf(answer, input, this.options.target)) this.fail(number, input, fault);
    }
  }

  private fail(number: number, { family, what }: Input, fault: string): void {
    const again = `LODESTONE_SEED=${this.options.seed} LODESTONE_INPUT=${number}`;
    this.failures.push(`${again} (${family}: ${what.slice(0, 300)}): ${fault}`);
  }
}

/** Line ends before a request are skipped, and then nothing has been asked. */
function isBlank(bytes: Buffer): boolean {
  return /^[\r\n]*$/.test(bytes.toString('latin1'));
}
