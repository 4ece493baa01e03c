/** A scrape of a test gateway, as series by name and labels. */
import type { GatewayClient } from '../support/client.js';

export type Series = ReadonlyMap<string, number>;

export async function scrape(gateway: GatewayClient): Promise<Series & { text: string }> {
  const reply = await gateway.call('GET', '/metrics', undefined, { key: null });
  if (reply.status !== 200) throw new Error(`A scrape was answered with ${reply.status}: ${reply.text.slice(0, 200)}`);
  const lines = reply.text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const series = new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  return Object.assign(series, { text: reply.text });
}

/** What has been added to each series since; series without a change are left out. */
export function since(before: Series, after: Series): Record<string, number> {
  const changed = [...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)] as const);
  return Object.fromEntries(changed.filter(([, added]) => added !== 0));
}
