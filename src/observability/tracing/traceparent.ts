/** The W3C header `traceparent`: whose trace a request belongs to, as far as its caller says so readably. */

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** null where there is none, or none that the recommendation allows: the request then begins a trace of its own. */
export function readTraceParent(header: string | undefined): TraceParent | null {
  const match = header === undefined ? null : form.exec(header.trim());
  if (!match) return null;
  const [, version, traceId = '', spanId = '', flags = '', more] = match;
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (traceId === noTrace || spanId === noSpan) return null;
  // Later versions may give the other bits a meaning; only `sampled` has one now.
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}
