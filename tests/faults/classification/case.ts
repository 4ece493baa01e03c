/** One failure of an upstream, as it answers, and what it means. Statuses, codes and key words are those of real providers; the sentences are our own. */
import type { Meaning } from '../../../src/providers/classify/failure.js';

export interface Case {
  name: string;
  means: Meaning;
  status: number;
  /** JSON, or text that is sent as it is. */
  body: unknown;
  headers?: Record<string, string>;
  /** Only where this provider is known to mean something else by it than others do; any id otherwise. */
  provider?: string;
}

type More = Pick<Case, 'headers' | 'provider'>;

export function failure(name: string, means: Meaning, status: number, body: unknown, more: More = {}): Case {
  return { name, means, status, body, ...more };
}

/** OpenAI's envelope. */
export function said(message: string, fields: object = {}): object {
  return { error: { message, type: null, param: null, code: null, ...fields } };
}

/** Anthropic's. */
export function typed(type: string, message: string): object {
  return { type: 'error', error: { type, message }, request_id: 'req_1' };
}

/** Google's. */
export function google(code: number, status: string, message: string, details?: object[]): object {
  return { error: { code, message, status, ...(details && { details }) } };
}

export function bodyText({ body }: Pick<Case, 'body'>): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}
