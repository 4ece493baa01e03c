/** Reads the answer to a request that is no chat: vectors, or an order of documents. What the thread for large answers runs too. */
import { answerBounds, type MalformedAnswer, parseAnswerBytes } from '../wire/answer-bounds.js';
import { type JsonBounds, readable } from '../wire/json-text.js';
import { isErrorMember } from '../wire/message.js';
import type { EmbeddingTask, Relevance } from '../wire/task.js';
import { dialectOf } from './dialects/registry.js';

/** What the thread is given. */
export interface TaskAnswerToRead {
  bytes: ArrayBuffer;
  question: TaskQuestion;
}

/** What was asked, as far as the reading depends on it. */
export interface TaskQuestion {
  readonly dialect: string;
  readonly kind: 'embedding' | 'rerank';
  /** How many inputs or documents were sent. */
  readonly count: number;
  /** How few results of a rerank are an answer: as many as the client wants. Absent = one for each document. */
  readonly atLeast?: number;
  /** The length of vectors that was asked for; null = the model's own. */
  readonly dimensions: number | null;
  readonly format: EmbeddingTask['format'];
}

export interface GivenAnswer {
  readonly vectors: readonly string[];
  readonly relevances: readonly Relevance[];
  /** Figures as the provider wrote them; null where there are none. */
  readonly tokens: unknown;
  readonly requests: unknown;
  readonly model: unknown;
}

export type TaskReading =
  | { kind: 'answer'; answer: GivenAnswer }
  /** A 2xx that holds an error. */
  | { kind: 'error'; error: unknown }
  /** `asked`: the answer is not what this request asked for, though it may be right for others. */
  | (MalformedAnswer & { asked?: true });

type Fields = Record<string, unknown>;

/** No model has longer vectors. */
const dimensionsMax = 16_384;
/** All vectors of one answer: 2,048 of 3,072 numbers, the most that common models give, are fewer. */
const numbersMax = 8_000_000;
const valuesOfResult = 64;
const otherValues = 10_000;

function taskBounds({ kind, count, dimensions }: TaskQuestion): JsonBounds {
  const each = kind === 'embedding' ? Math.max(dimensions ?? 0, dimensionsMax) : valuesOfResult;
  return { values: Math.min(count * each, numbersMax) + otherValues, names: answerBounds.names };
}

/** Checks that it is an answer: a vector for each input, or scores of documents. */
export function readTaskAnswer(body: Buffer, question: TaskQuestion): TaskReading {
  const json = parseAnswerBytes(body, taskBounds(question));
  if ('kind' in json) return json;
  const { value, text, encoding } = json;
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  if (isErrorMember(value.error)) return { kind: 'error', error: JSON.parse(readable(text, encoding)) };
  const read = question.kind === 'embedding' ? readVectors(value, question) : readRelevances(value, question);
  if (typeof read === 'string') return { kind: 'malformed', reason: read };
  return 'vectors' in read ? { kind: 'answer', answer: read } : read;
}

type WrongAnswer = Extract<TaskReading, { kind: 'malformed' }>;

/** A text says what is wrong. */
function readVectors(
  value: Fields,
  { dialect, count, dimensions, format }: TaskQuestion,
): GivenAnswer | WrongAnswer | string {
  const { vectors, tokens } = dialectOf(dialect).embedding!.readVectors(value);
  if (typeof vectors === 'string') return vectors;
  if (vectors.length !== count) return `its answer has ${vectors.length} vectors for ${count} inputs`;
  let length = dimensions;
  const texts: string[] = [];
  for (const given of vectors) {
    const vector = typeof given === 'string' ? readBase64(given) : given;
    if (!isVector(vector)) return 'its answer has a vector that is not a list of numbers';
    length ??= vector.length;
    if (vector.length !== length) {
      const reason = `its answer has a vector of ${vector.length} numbers, and not of ${length}`;
      return dimensions === null ? reason : { kind: 'malformed', reason, asked: true };
    }
    texts.push(format === 'float' ? JSON.stringify(Array.from(vector)) : asBase64(vector, given));
  }
  return { vectors: texts, relevances: [], tokens: tokens ?? null, requests: null, model: value.model };
}

function isVector(vector: unknown): vector is readonly number[] | Float32Array {
  if (!Array.isArray(vector) && !(vector instanceof Float32Array)) return false;
  return vector.length > 0 && (vector as readonly unknown[]).every((number) => Number.isFinite(number));
}

/** Numbers of four bytes, the lowest byte first; null where the text is something else. */
function readBase64(text: string): Float32Array | null {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null;
  return Float32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

function asBase64(vector: readonly number[] | Float32Array, given: unknown): string {
  if (typeof given === 'string') return `"${given}"`;
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let at = 0; at < vector.length; at++) bytes.writeFloatLE(vector[at]!, at * 4);
  return `"${bytes.toString('base64')}"`;
}

/** Voyage names the list `data`; some servers name the score `score`. */
function readRelevances(value: Fields, { count, atLeast = count }: TaskQuestion): GivenAnswer | string {
  const list = value.results ?? value.data;
  if (!Array.isArray(list)) return 'its answer has no list of results';
  if (list.length < atLeast || list.length > count) {
    return `its answer has ${list.length} results for ${count} documents`;
  }
  const relevances: Relevance[] = [];
  const seen = new Set<number>();
  for (const entry of list) {
    const { index, score: plain, relevance_score: score = plain } = isFields(entry) ? entry : ({} as Fields);
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || seen.has(index)) {
      return 'its answer has a result without an index, or with one that does not fit';
    }
    if (typeof score !== 'number' || !Number.isFinite(score)) return 'its answer has a result without a score';
    seen.add(index);
    relevances.push({ index, score });
  }
  relevances.sort((a, b) => b.score - a.score || a.index - b.index);
  const usage = isFields(value.usage) ? value.usage : {};
  const meta = isFields(value.meta) ? value.meta : {};
  const billed = isFields(meta.billed_units) ? meta.billed_units : {};
  return {
    vectors: [],
    relevances,
    tokens: usage.total_tokens ?? usage.prompt_tokens ?? billed.input_tokens ?? null,
    requests: billed.search_units ?? null,
    model: value.model,
  };
}

function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
