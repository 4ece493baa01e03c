/** Reads the times of prices in a catalogue file: parts of a day, and days. */

const clock = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

export function minutesOf(value: unknown): readonly [number, number] | undefined {
  const match = typeof value === 'string' ? clock.exec(value) : null;
  if (!match) return undefined;
  const from = Number(match[1]) * 60 + Number(match[2]);
  const to = match[3] === undefined ? 24 * 60 : Number(match[3]) * 60 + Number(match[4]);
  return from === to ? undefined : [from, to];
}

/** The first moment after a day, in epoch milliseconds, UTC. */
export function dayAfter(value: unknown): number | undefined {
  const written = value instanceof Date ? value.toISOString().slice(0, 10) : value;
  if (typeof written !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(written)) return undefined;
  const startMs = Date.parse(`${written}T00:00:00Z`);
  const exists = !Number.isNaN(startMs) && new Date(startMs).toISOString().startsWith(written);
  return exists ? startMs + 24 * 60 * 60 * 1000 : undefined;
}
