/** The times of prices: parts of a day, as a catalogue file writes them. */

const clock = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/;

export function minutesOf(value: unknown): readonly [number, number] | undefined {
  const match = typeof value === 'string' ? clock.exec(value) : null;
  if (!match) return undefined;
  const from = Number(match[1]) * 60 + Number(match[2]);
  const to = match[3] === undefined ? 24 * 60 : Number(match[3]) * 60 + Number(match[4]);
  return from === to ? undefined : [from, to];
}

/** `00:30-08:30`, of minutes of the day. */
export function clockSpan(fromMinute: number, toMinute: number): string {
  return `${clockText(fromMinute)}-${clockText(toMinute)}`;
}

function clockText(minute: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}
