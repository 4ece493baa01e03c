/** The same heads as `response-head.ts`, for answers that node writes itself. */
import { apiHeaders } from '../common-headers.js';

const common = Object.entries(apiHeaders).flat();

export const plainJsonHeaders: readonly string[] = [...common, 'content-type', 'application/json; charset=utf-8'];

export const plainStreamHeaders: readonly string[] = [
  ...common,
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
];
