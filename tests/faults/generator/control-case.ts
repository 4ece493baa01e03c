/** What the requests to the control plane share. */
import type { SeededRandom } from '../../support/seeded-random.js';
import type { Expected } from './input.js';

export interface ControlCase {
  method: string;
  path: string;
  body?: string | Buffer;
  expected: Expected;
}

export const invalid = (...param: (string | null)[]): Expected => ({
  status: [400],
  code: ['invalid_request_error'],
  param,
});
export const notFound: Expected = { status: [404] };

/** A text of any length that a head can have. */
export const longText = (random: SeededRandom): string => 'a'.repeat(1 + random.below(14_000));

/** A path segment, short enough for the head; what has no escape is made well formed first. */
export const segment = (text: string): string => encodeURIComponent(wellFormed(text.slice(0, 400)));
export const json = (value: unknown): string => JSON.stringify(value);

function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}
