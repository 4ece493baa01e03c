/** What the generator makes: the bytes of one bad request, and what is right to answer to them. */
import type { SeededRandom } from '../../support/seeded-random.js';

export interface Expected {
  /** Every status that is right. */
  status: readonly number[];
  /** Where they are fixed: one of these; null stands for "absent". */
  code?: readonly (string | null)[];
  param?: readonly (string | null)[];
  /** The gateway must close the connection after its answer: nothing that follows may be taken for a request. */
  closes?: boolean;
  /** How many answers there must be, where it is not one. */
  answers?: number;
}

export interface Input {
  family: Family;
  /** For a person who reads a failure. */
  what: string;
  bytes: Buffer;
  /** Written in pieces of this many bytes, each on its own. */
  pieceBytes?: number;
  /** One complete request, so that the connection can carry the next input too; else it has a connection of its own. */
  kept: boolean;
  /** Methods of the requests in it, where that is known: the answer to a HEAD has no body. */
  methods: readonly string[];
  path: string;
  /** Absent where the caller leaves without waiting for an answer. */
  expected?: Expected;
  leave?: 'reset' | 'close';
}

export type Family = 'chat' | 'control' | 'mutated' | 'raw' | 'left' | 'valid';

/** What the generator knows of the gateway that it is turned on. */
export interface Target {
  key: string;
  adminToken: string;
  accountId: string;
}

export type Generator = (random: SeededRandom, target: Target, number: number) => Input;

export const served = 'acme/meta/llama-3.3-70b/defra';
export const chatPath = '/v1/chat/completions';
export const canaryOf = (number: number): string => `canary-${number}.`;

/** A weighted choice. */
export function oneOf<T>(random: SeededRandom, choices: readonly (readonly [number, T])[]): T {
  let at = random.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) {
    at -= weight;
    if (at < 0) return choice;
  }
  return choices.at(-1)![1];
}

export type Headers = readonly (readonly [string, string])[];

export interface RequestParts {
  method: string;
  path: string;
  headers: Headers;
  body?: Buffer | string | undefined;
}

/** The bytes of a request as HTTP wants it, with a right content-length where there is a body. */
export function bytesOf({ method, path, headers, body }: RequestParts): Buffer {
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const all: Headers = [
    ['host', 'lodestone.test'],
    ...headers,
    ...(content ? [['content-length', String(content.length)] as const] : []),
  ];
  const head = `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), content ?? Buffer.alloc(0)]);
}

export const jsonType = ['content-type', 'application/json'] as const;
export const bearer = (token: string) => ['authorization', `Bearer ${token}`] as const;
