/** Fields of OpenRouter's `provider` object that are known only where the operator has switched its dialect on. */
import { gatewayError } from '../errors/gateway-error.js';
import { shown } from '../wire/json-text.js';
import { readOneOf, requestSorts } from './request-sorts.js';

/** What a route should reach; one that was not measured is not worse. */
export interface PreferredFigures {
  /** To the first byte. */
  readonly latencyMsMax?: number;
  readonly tokensPerSecondMin?: number;
}

type Reader = (value: unknown, param: string) => unknown;

export const openRouterReaders: Readonly<Record<string, Reader>> = {
  sort: (value, param) => readOneOf(requestSorts, isObject(value) ? sortBy(value, param) : value, param),
  preferred_max_latency: readFigure,
  preferred_min_throughput: readFigure,
  enforce_distillable_text: (value, param) => {
    if (value === false) return value;
    const reason = 'asks for something that the catalogue does not know. Leave it out';
    throw gatewayError('field_invalid', { param, reason });
  },
};

export function preferredOf(read: Readonly<Record<string, unknown>>): { preferred?: PreferredFigures } {
  const latency = read.preferred_max_latency as number | undefined;
  const throughput = read.preferred_min_throughput as number | undefined;
  if (latency === undefined && throughput === undefined) return {};
  return {
    preferred: {
      ...(latency !== undefined && { latencyMsMax: latency * 1000 }),
      ...(throughput !== undefined && { tokensPerSecondMin: throughput }),
    },
  };
}

function sortBy(value: Readonly<Record<string, unknown>>, param: string): unknown {
  const other = Object.keys(value).find((name) => name !== 'by' && name !== 'partition');
  if (other === undefined) return value.by;
  throw gatewayError('field_type', { param, found: `an object with \`${other.slice(0, 50)}\``, expected: '{"by": …}' });
}

const percentiles = ['p50', 'p75', 'p90', 'p99'];

/** A number, or numbers for percentiles. What is measured here is a mean, so the lowest percentile counts. */
function readFigure(value: unknown, param: string): number | undefined {
  const figure = isObject(value) ? percentiles.map((name) => value[name]).find((one) => one != null) : value;
  const unknown = isObject(value) ? Object.keys(value).find((name) => !percentiles.includes(name)) : undefined;
  if (unknown === undefined && typeof figure === 'number' && figure >= 0) return figure;
  const expected = 'a number, or an object with p50, p75, p90 or p99';
  throw gatewayError('field_type', { param, found: shown(value, 'utf8'), expected });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
