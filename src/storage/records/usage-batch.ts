/**
 * Sums the rows of a settlement by series and hour, as `lodestone.add_usage` takes them. The view `generation_usage` defines the same
 * sums in SQL, for rows that are in the store already.
 */
import { lineColumns, noValue, type SettledLine, unescapeCell } from '../../domain/settlement-row.js';
import { bucketOf, histogramText } from './histogram.js';

const hourMs = 3_600_000;

const column = (name: string): number => lineColumns.indexOf(name);
const [served, attempted] = [column('served_model'), column('providers_attempted')];
const [billed, status, door] = [column('billed'), column('status'), column('door')];
const owner = column('credential_owner');
const texts = ['account_id', 'key_id', 'key_name', 'requested_model', 'served_model', 'provider', 'locode'].concat([
  'error_code',
  'stream_end',
  'project_id',
]);
const textColumns = texts.map((name) => [name, column(name)] as const);

interface Sums {
  readonly cells: readonly string[];
  readonly fromHour: number;
  requests: number;
  prompt: number;
  completion: number;
  cached: number;
  reasoning: number;
  costPico: bigint;
  /** What budgets and caps count beyond the cost. */
  extraPico: bigint;
  /** The list price of what own credentials have served. */
  ownPico: bigint;
  latencyMs: number;
  readonly firstByte: Map<number, number>;
  readonly latency: Map<number, number>;
  readonly speed: Map<number, number>;
}

/** The sums of one settlement. */
export class UsageSums {
  /** By hour, then by series. */
  private readonly hours = new Map<number, Map<string, Sums>>();
  private readonly full: Sums[] = [];

  add(line: SettledLine): void {
    const fromHour = Math.floor(line.createdAt / hourMs);
    let hour = this.hours.get(fromHour);
    if (hour === undefined) {
      hour = new Map();
      this.hours.set(fromHour, hour);
    }
    const { cells, series } = line.form;
    let sums = hour.get(series);
    if (sums && !holdsMore(sums)) {
      this.full.push(sums);
      sums = undefined;
    }
    if (!sums) {
      sums = noSums(cells, fromHour);
      hour.set(series, sums);
    }
    add(sums, line, cells[billed] === 't');
    if (cells[billed] !== 't') return;
    // A fee is rare, and each operation on big integers makes a new one.
    if (line.countedPico !== null)
      sums.extraPico += line.chargePico === 0n ? line.countedPico : line.countedPico - line.chargePico;
    if (line.notionalPico !== null) sums.ownPico += line.notionalPico;
  }

  /** As a JSON array. */
  text(): string {
    const all = [...this.hours.values()].flatMap((hour) => [...hour.values()]);
    return `[${[...this.full, ...all].map(lineOf).join(',')}]`;
  }
}

function noSums(cells: readonly string[], fromHour: number): Sums {
  return {
    ...{
      cells,
      fromHour,
      requests: 0,
      prompt: 0,
      completion: 0,
      cached: 0,
      reasoning: 0,
      costPico: 0n,
      extraPico: 0n,
      ownPico: 0n,
      latencyMs: 0,
    },
    ...{ firstByte: new Map(), latency: new Map(), speed: new Map() },
  };
}

/** Whether another row surely fits into the whole numbers that are exact. */
function holdsMore(sums: Sums): boolean {
  return Math.max(sums.prompt, sums.completion, sums.cached, sums.reasoning, sums.latencyMs) < 2 ** 40;
}

function add(sums: Sums, line: SettledLine, isBilled: boolean): void {
  const { completionTokens, latencyMs, firstByteMs } = line;
  sums.requests++;
  sums.prompt += line.promptTokens;
  sums.completion += completionTokens;
  sums.cached += line.cachedTokens;
  sums.reasoning += line.reasoningTokens;
  sums.costPico += line.chargePico;
  sums.latencyMs += Math.floor(latencyMs);
  count(sums.latency, latencyMs);
  if (firstByteMs !== null) count(sums.firstByte, firstByteMs);
  if (isBilled && completionTokens > 0 && latencyMs > 0) count(sums.speed, (completionTokens * 1000) / latencyMs);
}

function count(histogram: Map<number, number>, value: number): void {
  const bucket = bucketOf(value);
  histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1);
}

function lineOf(sums: Sums): string {
  const { cells } = sums;
  let text = `{"door":"${cells[door] === noValue ? 'chat' : cells[door]}"`;
  for (const [name, index] of textColumns) {
    if (cells[index] !== noValue) text += `,"${name}":${JSON.stringify(unescapeCell(cells[index]!))}`;
  }
  if (cells[served] === noValue) text += `,"failed_by":${JSON.stringify(unescapeCell(cells[attempted]!))}`;
  if (cells[owner] !== noValue) text += ',"own":true';
  if (sums.extraPico !== 0n) text += `,"extra_pico":${sums.extraPico}`;
  if (sums.ownPico !== 0n) text += `,"own_pico":${sums.ownPico}`;
  return (
    `${text},"billed":${cells[billed] === 't'},"status":${Number(cells[status])},"from_hour":${sums.fromHour},` +
    `"requests":${sums.requests},"prompt_tokens":${sums.prompt},"completion_tokens":${sums.completion},` +
    `"cached_tokens":${sums.cached},"reasoning_tokens":${sums.reasoning},"cost_pico":${sums.costPico},` +
    `"latency_ms":${sums.latencyMs},"first_byte_histogram":"${histogramText(sums.firstByte)}",` +
    `"latency_histogram":"${histogramText(sums.latency)}","speed_histogram":"${histogramText(sums.speed)}"}`
  );
}
