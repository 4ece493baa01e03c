/** What the doctor checks of a host and a configuration. A healthy host gives no finding. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Provider, Snapshot } from '../../catalogue/route.js';
import type { Config } from '../../config/config.js';
import { ConfigFault } from '../../config/config-fault.js';
import { addressOf } from '../../providers/transport/upstream-address.js';
import { proxiesOf } from '../../providers/transport/upstream-proxy.js';
import type { Host, Trouble } from './host.js';

export interface Finding {
  /** What is wrong, with the value. */
  readonly what: string;
  /** What to do. */
  readonly remedy: string;
}

interface Patient {
  readonly host: Host;
  readonly config: Config;
  readonly snapshot: Snapshot;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A gateway of this configuration runs, so that its port is taken rightly. */
  readonly isRunning: boolean;
}

export async function examine(patient: Patient): Promise<Finding[]> {
  const found = [
    ...checkMachine(patient),
    ...checkFiles(patient),
    ...(await checkPort(patient)),
    ...(await checkStores(patient)),
    ...(await checkProviders(patient)),
  ];
  return found;
}

const nodeMin = [20, 19] as const;
const memoryMin = 512 * 1024 ** 2;
const openFilesMin = 4_096;
const diskMin = 1024 ** 3;

function checkMachine({ host }: Patient): Finding[] {
  const found: Finding[] = [];
  const [major = 0, minor = 0] = host.nodeVersion.split('.').map(Number);
  if (major < nodeMin[0] || (major === nodeMin[0] && minor < nodeMin[1]))
    found.push({ what: `Node is ${host.nodeVersion}.`, remedy: `Install Node ${nodeMin.join('.')} or newer.` });
  const memory = host.memoryBytes();
  if (memory < memoryMin)
    found.push({
      what: `There are ${mib(memory)} MiB of memory.`,
      remedy: `Give the machine or the container ${mib(memoryMin)} MiB or more.`,
    });
  const files = host.openFilesMax();
  if (files < openFilesMin)
    found.push({
      what: `A process may open ${files} files, and each client and each call of a provider is one.`,
      remedy: `Raise the limit to ${openFilesMin} or more: "ulimit -n 65536", or LimitNOFILE=65536 in the systemd unit.`,
    });
  return found;
}

const mib = (bytes: number): number => Math.round(bytes / 1024 ** 2);
const othersRead = 0o044;
const othersAny = 0o077;

function checkFiles({ host, config }: Patient): Finding[] {
  const found: Finding[] = [];
  const { dataDir } = config.storage;
  const place = nearestExisting(dataDir);
  const data = host.fileAt(dataDir);
  if (data && !data.isDirectory)
    found.push({ what: `${dataDir} is a file.`, remedy: 'Set storage.data_dir to a directory.' });
  else if (!host.mayWrite(place))
    found.push({
      what: `${place} cannot be written by this user.`,
      remedy: `Give it to the user that runs Lodestone ("chown"), mount its disk writable, or set storage.data_dir to another directory.`,
    });
  if (data?.isDirectory && (data.mode & 0o1000) !== 0)
    found.push({
      what: `${dataDir} is shared by all users of this machine.`,
      remedy: 'Set storage.data_dir to a directory that only Lodestone uses.',
    });
  else if (data?.isDirectory && (data.mode & othersAny) !== 0)
    found.push({ what: `${dataDir} is open to other users.`, remedy: `Run "chmod 700 ${dataDir}".` });
  const free = host.freeBytes(place);
  if (free !== null && free < diskMin)
    found.push({
      what: `The disk of ${dataDir} has ${mib(free)} MiB left.`,
      remedy: 'Free some, or set storage.data_dir to a larger disk: without room in the journal, requests are refused.',
    });
  for (const path of [join(dataDir, 'admin-token'), ...secretFilesOf(config)]) {
    const file = host.fileAt(path);
    if (file && (file.mode & othersRead) !== 0)
      found.push({ what: `Other users can read the secret in ${path}.`, remedy: `Run "chmod 600 ${path}".` });
  }
  return found;
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

/** The configuration itself where a secret is written into it. */
function secretFilesOf({ file }: Config): string[] {
  if (file === null) return [];
  const text = readFileSync(file, 'utf8');
  const literal = /^[^#\n]*\b(?:api_key|admin_token|secret|secret_key|webhook_secret):\s*["']?[^\s"'${#][^\s#]{7,}/m;
  return literal.test(text) ? [file] : [];
}

async function checkPort({ host, config: { server }, isRunning }: Patient): Promise<Finding[]> {
  if (isRunning) return [];
  const trouble = await host.listen(server.host, server.port);
  const at = `${server.host}:${server.port}`;
  if (trouble === null) return [];
  const remedies: Record<string, string> = {
    EADDRINUSE: 'Stop what listens there ("ss -ltnp" names it), or set server.port.',
    EACCES: 'Set server.port to 1024 or more, and let a proxy listen on the lower port.',
    EADDRNOTAVAIL: 'Set server.host to an address of this machine, or to 0.0.0.0.',
  };
  const remedy = remedies[trouble] ?? 'Set server.host and server.port to an address of this machine.';
  return [{ what: `Nothing can listen on ${at} (${trouble}).`, remedy }];
}

const postgresMin = 14;
const redisMin = 7;

async function checkStores({ host, config: { storage } }: Patient): Promise<Finding[]> {
  const found: Finding[] = [];
  if (storage.databaseUrl !== null) {
    const { trouble, version, mayCreate, isStandby, owner } = await host.postgres(storage.databaseUrl);
    const name = serverOf(storage.databaseUrl);
    if (trouble !== null)
      found.push({ what: `PostgreSQL at ${name} refuses (${trouble}).`, remedy: postgresRemedy(trouble) });
    else if (version < postgresMin)
      found.push({
        what: `PostgreSQL at ${name} has version ${version}.`,
        remedy: `Upgrade to ${postgresMin} or newer; 18 is tested.`,
      });
    else if (isStandby)
      found.push({
        what: `PostgreSQL at ${name} is a standby, which takes no writes.`,
        remedy: 'Name the primary in storage.database_url.',
      });
    else if (owner !== null)
      found.push({
        what: `Tables of the schema lodestone at ${name} belong to ${owner}, and an upgrade changes them.`,
        remedy: `Connect as ${owner}, or run "grant ${owner} to …".`,
      });
    else if (!mayCreate)
      found.push({
        what: `The user of storage.database_url may not make tables at ${name}.`,
        remedy: 'Run "grant create on database … to …", or make the schema lodestone and give it to the user.',
      });
  }
  for (const url of [storage.redisUrl ?? []].flat()) {
    const { trouble, version, isReplica, evicts, forbids } = await host.redis(url);
    const name = serverOf(url);
    if (trouble !== null) {
      const isRefused = /NOAUTH|WRONGPASS|AUTH/i.test(trouble);
      const remedy = isRefused ? 'Put the password into storage.redis_url.' : 'Start it, or correct storage.redis_url.';
      found.push({ what: `Redis at ${name} refuses (${trouble}).`, remedy });
      continue;
    }
    if (forbids !== null)
      found.push({
        what: `The user of storage.redis_url at ${name} may not do all that is needed (${forbids}).`,
        remedy:
          'Give it the keys and channels lodestone:*, scripts and messages: "ACL SETUSER … ~lodestone:* &lodestone:* +@all -@admin".',
      });
    if (version < redisMin)
      found.push({
        what: `Redis at ${name} has version ${version}.`,
        remedy: `Upgrade to Redis ${redisMin}.0 or Valkey 7.2, or newer.`,
      });
    if (isReplica && !Array.isArray(storage.redisUrl))
      found.push({ what: `Redis at ${name} is a replica.`, remedy: 'Name the primary in storage.redis_url.' });
    if (evicts === 'noeviction')
      found.push({
        what: `Redis at ${name} has maxmemory-policy noeviction: when it is full it refuses writes.`,
        remedy: 'Set maxmemory-policy allkeys-lru.',
      });
  }
  return found;
}

function postgresRemedy(trouble: Trouble): string {
  if (trouble === '28P01' || trouble === '28000') return 'Correct user and password in storage.database_url.';
  if (trouble === '3D000') return 'Make the database, or correct its name in storage.database_url.';
  if (/SELF_SIGNED|CERT|TLS|SSL/i.test(trouble)) return 'Name its authority in NODE_EXTRA_CA_CERTS.';
  return 'Start it, open the firewall, or correct storage.database_url.';
}

/** Without user and password. */
function serverOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host || url.replace(/^.*@/, '') : 'its address';
}

const skewMaxMs = 60_000;

async function checkProviders({ host, snapshot, env }: Patient): Promise<Finding[]> {
  const external = [...snapshot.providers.values()].filter(({ dialect }) => dialect !== 'sandbox');
  const configured = external.filter((provider) => provider.configured);
  const found = external.flatMap(withoutAddress);
  if (configured.length === 0)
    found.push({
      what: 'No provider has a credential, so only the sandbox answers.',
      remedy: 'Set the variable of a provider, such as OPENAI_API_KEY, or providers.<id>.api_key.',
    });
  let proxyOf: ReturnType<typeof proxiesOf>;
  try {
    proxyOf = proxiesOf(env);
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    return [...found, { what: error.message, remedy: 'Set it to the http:// or https:// address of the proxy.' }];
  }
  const looked = await Promise.all(configured.map((provider) => lookAt(host, provider, proxyOf)));
  const unique = new Map(looked.flatMap(({ findings }) => findings.map((finding) => [finding.what, finding])));
  const skews = looked.flatMap(({ skewMs }) => (skewMs === null ? [] : [skewMs])).sort((a, b) => a - b);
  const skewMs = skews[Math.floor(skews.length / 2)] ?? 0;
  if (Math.abs(skewMs) > skewMaxMs)
    unique.set('clock', {
      what: `This machine's clock is ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'behind' : 'ahead of'} its providers.`,
      remedy: 'Set it by NTP ("timedatectl set-ntp true"): signatures, expiries and daily quotas go by it.',
    });
  return [...found, ...unique.values()];
}

/** The operator gave a key, and a part of the address is absent. */
function withoutAddress({ id, apiKey, absentVariables = [] }: Provider): Finding[] {
  if (apiKey === null || absentVariables.length === 0) return [];
  const names = absentVariables.join(' and ');
  return [{ what: `${id} has a key and no address.`, remedy: `Set ${names}.` }];
}

interface LookedAt {
  readonly findings: readonly Finding[];
  readonly skewMs: number | null;
}

async function lookAt(host: Host, provider: Provider, proxyOf: ReturnType<typeof proxiesOf>): Promise<LookedAt> {
  const address = addressOf(provider.baseUrl);
  const proxy = proxyOf(address);
  const one = (what: string, remedy: string): LookedAt => ({ findings: [{ what, remedy }], skewMs: null });
  if (proxy !== null) {
    const trouble = await host.connect(proxy.host, proxy.port);
    if (trouble === null) return { findings: [], skewMs: null };
    return one(
      `The proxy in ${proxy.variable} cannot be reached (${trouble}).`,
      `Correct ${proxy.variable}, or name what goes past it in NO_PROXY.`,
    );
  }
  const unknown = await host.resolve(address.hostname.replace(/^\[|\]$/g, ''));
  if (unknown !== null)
    return one(
      `The name ${address.hostname} of ${provider.id} does not resolve (${unknown}).`,
      `Correct providers.${provider.id}.base_url, or this machine's name service ("resolvectl status").`,
    );
  const { trouble, skewMs } = await host.reach(provider.baseUrl);
  if (trouble === null) return { findings: [], skewMs };
  if (/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO|DEPTH_ZERO/.test(trouble))
    return one(
      `TLS with ${address.host} of ${provider.id} fails (${trouble}).`,
      'Correct the address; a certificate of your own proxy or server is trusted with NODE_EXTRA_CA_CERTS.',
    );
  return one(
    `${address.host} of ${provider.id} cannot be reached (${trouble}).`,
    `Let the firewall through to it, correct providers.${provider.id}.base_url, or set HTTPS_PROXY.`,
  );
}
