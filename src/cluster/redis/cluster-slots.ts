/** Reads which node of a cluster has which slots. */
import { Redis, type RedisOptions } from 'ioredis';
import { slotCount } from './key-slot.js';

/** The slots from one number to another, both included, and the address `host:port` of their master. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly address: string;
}

/** Every node has the same credentials: those of the first address that has any. */
export function credentialsOf(redisUrls: readonly string[]): { scheme: string; client: RedisOptions } {
  const urls = redisUrls.map((text) => new URL(text));
  const { protocol: scheme } = urls[0]!;
  const named = urls.find(({ username, password }) => username !== '' || password !== '');
  if (!named) return { scheme, client: {} };
  const [username, password] = [decodeURIComponent(named.username), decodeURIComponent(named.password)];
  return { scheme, client: { ...(username && { username }), ...(password && { password }) } };
}

/** null where the node does not answer, or is of no cluster. */
export async function askForSlots(redisUrl: string, waitMs: number): Promise<SlotRange[] | null> {
  const { host } = new URL(redisUrl);
  const client = new Redis(redisUrl, {
    lazyConnect: true,
    connectionName: 'lodestone',
    connectTimeout: waitMs,
    commandTimeout: waitMs,
    enableReadyCheck: false,
    retryStrategy: () => null,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return readSlots(await client.call('cluster', 'slots'), host);
  } catch {
    return null;
  } finally {
    client.disconnect();
  }
}

type SlotsEntry = [from: number, to: number, master: [host: string | null, port: number]];

/** The answer of `CLUSTER SLOTS`; `asked` is the node that gave it, which may not know its own name. */
export function readSlots(answer: unknown, asked: string): SlotRange[] | null {
  if (!Array.isArray(answer) || answer.length === 0) return null;
  const ranges: SlotRange[] = [];
  for (const [first, last, master] of answer as SlotsEntry[]) {
    const [from, to, port] = [Number(first), Number(last), Number(master?.[1])];
    if (!(from >= 0 && from <= to && to < slotCount && port > 0)) return null;
    const host = master[0] || asked.replace(/:\d+$/, '');
    // A node that does not know the name of another one cannot lead there.
    if (host === '?') return null;
    ranges.push({ from, to, address: `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}` });
  }
  return ranges;
}
