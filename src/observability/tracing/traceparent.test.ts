import { expect, it } from 'vitest';
import { readTraceParent } from './chat-spans.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

it.each([
  [`00-${traceId}-${spanId}-01`, 1],
  [`00-${traceId}-${spanId}-00`, 0],
  [`00-${traceId}-${spanId}-03`, 1],
  [` 00-${traceId}-${spanId}-01 `, 1],
  [`cc-${traceId}-${spanId}-01-what-comes-later`, 1],
])('"%s" goes on in its trace', (header, traceFlags) => {
  expect(readTraceParent(header)).toEqual({ traceId, spanId, traceFlags });
});

it.each([
  undefined,
  '',
  traceId,
  `00-${traceId}-${spanId}`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${'0'.repeat(32)}-${spanId}-01`,
  `00-${traceId}-${'0'.repeat(16)}-01`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `00-${traceId}-${spanId}-01\r\nx: y`,
])('"%s" begins a trace of its own', (header) => {
  expect(readTraceParent(header)).toBeNull();
});
