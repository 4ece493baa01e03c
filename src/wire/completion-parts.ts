/** A completion taken apart into what is passed on and what is ours. */
import type { TextEncoding } from './json-text.js';
import type { UsageReading } from './usage.js';

export interface CompletionParts {
  /** Every member that is passed on, as JSON text without the outer braces. */
  members: string;
  encoding: TextEncoding;
  usage: unknown;
  /** What `usage` says. */
  reading: UsageReading;
  /** `usage` as it was written, where it could be cut out. */
  usageText: string | undefined;
  answeredModel: unknown;
  finishReason: string | null;
  /** What was generated, as the inside of a JSON string in latin1; only filled where there is no usage to bill by. */
  delivered: string;
}

/** An error that is passed on is an empty one, which clients would take for a failure. */
const replaced = new Set(['id', 'object', 'created', 'model', 'usage', 'router_metadata', 'error']);

export function isPassedOn(key: string): boolean {
  return !replaced.has(key);
}
