/** What `lodestone doctor` says of real servers: their versions and the rights of a user there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { findingsOf } from '../../src/cli/commands/doctor.js';
import { thisHost } from '../../src/cli/doctor/host.js';
import { asOwner, databaseUrlOf, type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { startRedis, type TestRedis } from '../support/redis.js';

/** Of the machine only its servers are looked at, so that a small or busy one changes nothing. */
const host = {
  ...{ ...thisHost, memoryBytes: () => 8e9, openFilesMax: () => 65_536, freeBytes: () => 1e11 },
  ...{ listen: async () => null, isGateway: async () => false, resolve: async () => null },
  reach: async () => ({ trouble: null, skewMs: 0 }),
};
let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-doctor-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

async function findings(storage: Record<string, string>): Promise<string[]> {
  writeFileSync(join(cwd, 'lodestone.yaml'), JSON.stringify({ storage: { data_dir: 'none', ...storage } }));
  const io = { out: () => {}, err: () => {}, env: { OPENAI_API_KEY: 'sk' }, cwd };
  return (await findingsOf(undefined, io, host)).map(({ what, remedy }) => `${what} ${remedy}`);
}

describe('PostgreSQL', () => {
  let database: FreshDatabase;
  const role = `doctor_${process.pid}`;
  const owner = () => inject('postgres');
  /** The socket of the shared server knows users by the system's names, so the role is taken after that. */
  const asRole = () => `${database.databaseUrl}&options=${encodeURIComponent(`-c role=${role}`)}`;
  beforeEach(async () => {
    database = await freshDatabase();
    await asOwner(owner(), `create role ${role} login`);
  });
  afterEach(async () => {
    await database.drop();
    await asOwner(owner(), `drop role ${role}`);
  });

  it('is healthy for the owner of its tables, in the version that runs', async () => {
    expect(await findings({ database_url: database.databaseUrl })).toEqual([]);
    expect((await thisHost.postgres(database.databaseUrl)).version).toBeGreaterThanOrEqual(14);
  });

  it('a user who owns nothing there is named whose tables they are, and is healthy with a grant', async () => {
    const { user } = database.connection;
    expect(await findings({ database_url: asRole() })).toEqual([expect.stringContaining(`belong to ${user}`)]);
    await asOwner(owner(), `grant ${user} to ${role}`);
    expect(await findings({ database_url: asRole() })).toEqual([]);
  });

  it('a user who may not make tables is told of the grant, and is healthy after it', async () => {
    await asOwner(database.connection, 'drop schema lodestone cascade');
    expect(await findings({ database_url: asRole() })).toEqual([expect.stringContaining('grant create on database')]);
    await asOwner(database.connection, `grant create on database ${database.connection.database} to ${role}`);
    expect(await findings({ database_url: asRole() })).toEqual([]);
    await asOwner(database.connection, `revoke create on database ${database.connection.database} from ${role}`);
  });

  it('a database and a user that are not there are told apart', async () => {
    const { connection } = database;
    const at = (changed: object) => findings({ database_url: databaseUrlOf({ ...connection, ...changed }) });
    expect(await at({ database: 'none' })).toEqual([expect.stringMatching(/3D000.*Make the database/)]);
    expect(await at({ user: 'nobody' })).toEqual([expect.stringMatching(/28000.*Correct user and password/)]);
  });
});

describe('Redis', () => {
  let redis: TestRedis;
  let admin: Redis;
  beforeAll(async () => {
    redis = await startRedis();
    admin = new Redis(redis.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await redis.stop();
  });
  const at = (user: string) => redis.url.replace('://', `://${user}@`);

  it('refuses when it is full, until it may evict; its version is read', async () => {
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    expect(await findings({ redis_url: redis.url })).toEqual([expect.stringContaining('noeviction')]);
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await findings({ redis_url: redis.url })).toEqual([]);
    expect((await thisHost.redis(redis.url)).version).toBeGreaterThanOrEqual(7);
  });

  it('a user without scripts or without the keys is found, and the remedy is enough', async () => {
    const login = ['on', '>pw', 'resetkeys', 'resetchannels'];
    for (const rights of [
      ['~lodestone:*', '&lodestone:*', '+@all', '-@scripting'],
      ['~other:*', '&*', '+@all'],
    ]) {
      await admin.call('ACL', 'SETUSER', 'u', 'reset', ...login, ...rights);
      expect(await findings({ redis_url: at('u:pw') })).toEqual([expect.stringMatching(/NOPERM.*ACL SETUSER/)]);
    }
    const [, remedy = ''] = /ACL SETUSER … ([^"]+)"/.exec((await findings({ redis_url: at('u:pw') }))[0]!) ?? [];
    await admin.call('ACL', 'SETUSER', 'u', 'reset', ...login, ...remedy.split(' '));
    expect(await findings({ redis_url: at('u:pw') })).toEqual([]);
    expect(await findings({ redis_url: at('u:wrong') })).toEqual([expect.stringMatching(/WRONGPASS.*password/)]);
  });

  it('a replica is found', async () => {
    const port = new URL(redis.url).port;
    const replica = await startRedis({
      args: ['--replicaof', `127.0.0.1 ${port}`, '--maxmemory-policy', 'allkeys-lru'],
    });
    try {
      expect(await findings({ redis_url: replica.url })).toEqual([expect.stringMatching(/is a replica.*primary/)]);
    } finally {
      await replica.stop();
    }
  });
});
