/** What the playground knows about a client API: how to write a request, how to read an answer, and its client libraries. */
import type { ModelKind } from '../../../api/types.js';
import type { PlaygroundRequest } from '../request.js';

export type Fields = Record<string, unknown>;

export interface Receipt {
  requested_model: string;
  served_model: string;
  provider: string;
  locode: string;
  country: string | null;
  providers_attempted: string[];
  fallback_occurred: boolean;
  breaker_skipped?: string[];
  alias?: string | null;
  carbon: number | null;
  cloud_act: boolean | null;
  stream_end?: string;
  omitted?: string[];
}

export interface Usage {
  promptTokens: number;
  completionTokens: number;
  /** An exact decimal amount. */
  costUsd: string;
}

/** Pieces with the same key belong to the same call. */
export interface CallPiece {
  key: string;
  id?: string;
  name?: string;
  arguments?: string;
}

/** What one event, or a whole answer, adds to what is known. */
export interface Reading {
  text?: string;
  reasoning?: string;
  calls?: CallPiece[];
  finishReason?: string;
  usage?: Usage;
  receipt?: Receipt;
  error?: string;
  /** The last event of a stream. */
  isEnd?: boolean;
}

export interface CodeClient {
  /** Everything before the call, with the base URL; `key` is an expression of the language. */
  setUp: (baseUrl: string, key: string) => string[];
  /** The function that is called. */
  call: string;
  print: (stream: boolean) => string[];
}

export interface PlaygroundDoor {
  /** As in /dashboard/api/playground/{name}. */
  name: string;
  label: string;
  path: string;
  kind: ModelKind;
  /** Answers may arrive in pieces. */
  streams: boolean;
  /** What the message field is for. */
  input: { label: string; placeholder: string };
  /** Headers of a request with curl, without the content type. */
  headers: (key: string) => string[];
  body: (request: PlaygroundRequest) => Fields;
  /** Added to the body of a streamed request that the playground itself sends. */
  streamFields?: Fields;
  readEvent: (event: Fields) => Reading;
  readAnswer: (answer: Fields) => Reading;
  python: CodeClient;
  typescript: CodeClient;
}

export const bearer = (key: string): string[] => [`Authorization: Bearer ${key}`];

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Usage under the names of any of the APIs. A cost is a whole number of pico-dollars, which a float holds exactly up to thousands. */
export function usageOf(value: unknown): Usage | undefined {
  const usage = fieldsOf(value);
  if (typeof usage.cost !== 'number') return undefined;
  const number = (...names: string[]) => Number(names.map((name) => usage[name]).find((one) => one !== undefined) ?? 0);
  return {
    promptTokens: number('prompt_tokens', 'input_tokens', 'total_tokens'),
    completionTokens: number('completion_tokens', 'output_tokens'),
    costUsd: usage.cost.toFixed(12),
  };
}

export function receiptOf(value: unknown): Receipt | undefined {
  const receipt = fieldsOf(value);
  return typeof receipt.served_model === 'string' ? (receipt as unknown as Receipt) : undefined;
}

/** `{ name: value }` where the value is set, else nothing. */
export function field(name: string, value: unknown): Fields {
  const isEmpty =
    value === undefined ||
    value === '' ||
    (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
  return isEmpty ? {} : { [name]: value };
}

/** Without members that are undefined. */
export function present<T extends object>(parts: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as T;
}

/** The client library of OpenAI, which three of the APIs share. */
export function openaiClients(call: string, print: { python: CodeClient['print']; typescript: CodeClient['print'] }) {
  const python: CodeClient = {
    setUp: (baseUrl, key) => [
      ...(key.startsWith('os.') ? ['import os'] : []),
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url=${JSON.stringify(`${baseUrl}/v1`)}, api_key=${key})`,
    ],
    call: `client.${call}`,
    print: print.python,
  };
  const typescript: CodeClient = {
    setUp: (baseUrl, key) => [
      "import OpenAI from 'openai';",
      '',
      'const client = new OpenAI({',
      `  baseURL: ${JSON.stringify(`${baseUrl}/v1`)},`,
      `  apiKey: ${key},`,
      '});',
    ],
    call: `client.${call}`,
    print: print.typescript,
  };
  return { python, typescript };
}
