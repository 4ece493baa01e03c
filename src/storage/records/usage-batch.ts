/**
 * Sums the rows of a settlement by series and hour, as `lodestone.add_usage` takes them. The view `generation_usage` defines the same
 * sums in SQL, for rows that are in the store already.
 */
import { lineColumns, type SettledLine, unescapeCell } from '../../domain/settlement-row.js';
import { bucketOf, histogramText } from './histogram.js';

const hourMs = 3_600_000;
const noValue = '\\N';

const column = (name: string): number => lineColumns.indexOf(name);
const [created, served, attempted] = [column('created_ms'), column('served_model'), column('providers_attempted')];
const [billed, status, door] = [column('billed'), column('status'), column('door')];
const [prompt, completion] = [column('prompt_tokens'), column('completion_tokens')];
const [cached, reasoning] = [column('cached_tokens'), column('reasoning_tokens')];
const [latency, firstByte] = [column('latency_ms'), column('first_byte_ms')];
const texts = ['account_id', 'key_id', 'key_name', 'requested_model', 'served_model', 'provider', 'locode'].concat(
  'error_code',
  'stream_end',
);
// A project is no part of a series. It says whose spending of the day a line is.
const textColumns = texts.concat('project_id').map((name) => [name, column(name)] as const);
const keyColumns = [...textColumns.map(([, index]) => index), billed, status, door];

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
  latencyMs: number;
  readonly firstByte: Map<number, number>;
  readonly latency: Map<number, number>;
  readonly speed: Map<number, number>;
}

/** The sums of one settlement. */
export class UsageSums {
  private readonly groups = new Map<string, Sums>();
  private readonly full: Sums[] = [];

  add({ cells, chargePico, countedPico = chargePico }: SettledLine): void {
    const fromHour = Math.floor(Number(cells[created]) / hourMs);
    let key = `${fromHour}`;
    for (const index of keyColumns) key += `\t${cells[index]}`;
    if (cells[served] === noValue) key += `\t${cells[attempted]}`;
    let sums = this.groups.get(key);
    if (sums && !holdsMore(sums)) {
      this.full.push(sums);
      sums = undefined;
    }
    if (!sums) {
      sums = noSums(cells, fromHour);
      this.groups.set(key, sums);
    }
    add(sums, cells, chargePico);
    sums.extraPico += countedPico - chargePico;
  }

  /** As a JSON array. */
  text(): string {
    return `[${[...this.full, ...this.groups.values()].map(lineOf).join(',')}]`;
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
      latencyMs: 0,
    },
    ...{ firstByte: new Map(), latency: new Map(), speed: new Map() },
  };
}

/** Whether another row surely fits into the whole numbers that are exact. */
function holdsMore(sums: Sums): boolean {
  return Math.max(sums.prompt, sums.completion, sums.cached, sums.reasoning, sums.latencyMs) < 2 ** 40;
}

function add(sums: Sums, cells: readonly string[], chargePico: bigint): void {
  const [tokens, latencyMs] = [Number(cells[completion]), Number(cells[latency])];
  sums.requests++;
  sums.prompt += Number(cells[prompt]);
  sums.completion += tokens;
  sums.cached += Number(cells[cached]);
  sums.reasoning += Number(cells[reasoning]);
  sums.costPico += chargePico;
  sums.latencyMs += Math.floor(latencyMs);
  count(sums.latency, latencyMs);
  if (cells[firstByte] !== noValue) count(sums.firstByte, Number(cells[firstByte]));
  if (cells[billed] === 't' && tokens > 0 && latencyMs > 0) count(sums.speed, (tokens * 1000) / latencyMs);
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
  if (sums.extraPico !== 0n) text += `,"extra_pico":${sums.extraPico}`;
  return (
    `${text},"billed":${cells[billed] === 't'},"status":${Number(cells[status])},"from_hour":${sums.fromHour},` +
    `"requests":${sums.requests},"prompt_tokens":${sums.prompt},"completion_tokens":${sums.completion},` +
    `"cached_tokens":${sums.cached},"reasoning_tokens":${sums.reasoning},"cost_pico":${sums.costPico},` +
    `"latency_ms":${sums.latencyMs},"first_byte_histogram":"${histogramText(sums.firstByte)}",` +
    `"latency_histogram":"${histogramText(sums.latency)}","speed_histogram":"${histogramText(sums.speed)}"}`
  );
}
