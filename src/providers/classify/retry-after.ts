/** How long an upstream asks to be left alone, from its headers; junk, the past and zero are no answer. */
const retryAfterMsMax = 24 * 60 * 60 * 1000;

export function retryAfterMs(header: (name: string) => string | undefined, nowMs: number): number | undefined {
  return (
    sensible(decimal(header('retry-after-ms'))) ??
    sensible(seconds(header('retry-after'))) ??
    sensible(untilDate(header('retry-after'), header('date'), nowMs))
  );
}

function decimal(text: string | undefined): number {
  return text !== undefined && /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : Number.NaN;
}

function seconds(text: string | undefined): number {
  return decimal(text) * 1000;
}

/** An HTTP date is told by the upstream's own clock, so its `date` header is the present where there is one. */
function untilDate(text: string | undefined, date: string | undefined, nowMs: number): number {
  const theirs = instant(date);
  return instant(text) - (Number.isNaN(theirs) ? nowMs : theirs);
}

function instant(text: string | undefined): number {
  return text !== undefined && /^\s*[a-z]{3,9},? [\w: -]{10,40}$/i.test(text) ? Date.parse(text) : Number.NaN;
}

function sensible(ms: number): number | undefined {
  return ms > 0 ? Math.min(Math.ceil(ms), retryAfterMsMax) : undefined;
}
