/** Reads the times of prices in a catalogue file: parts of a day. */

const clock = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

export function minutesOf(value: unknown): readonly [number, number] | undefined {
  const match = typeof value === 'string' ? clock.exec(value) : null;
  if (!match) return undefined;
  const from = Number(match[1]) * 60 + Number(match[2]);
  const to = match[3] === undefined ? 24 * 60 : Number(match[3]) * 60 + Number(match[4]);
  return from === to ? undefined : [from, to];
}
