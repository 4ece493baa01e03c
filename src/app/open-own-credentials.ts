/** Opens what requests with credentials of customers need: the operator's key, the vault, and the candidates that are made of routes. */
import { join } from 'node:path';
import { KeyRing, makeKeyFile } from '../accounts/credentials/key-ring.js';
import { OwnCandidateMaker } from '../accounts/credentials/own-candidates.js';
import { NoSecretsKey, type RotatedSecrets, rotateSecrets } from '../accounts/credentials/rotate-secrets.js';
import { Sightings } from '../accounts/credentials/sightings.js';
import { Vault } from '../accounts/credentials/vault.js';
import type { AccountDirectory } from '../accounts/directory.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { gatewayError } from '../errors/gateway-error.js';
import { OwnHealth } from '../health/own-health.js';
import type { CredentialsPort } from '../http/deps.js';
import type { Store } from '../storage/store.js';
import { type CheckPorts, checkCredential } from './check-credential.js';
import type { OpenParts } from './open-parts.js';
import { breakerOf } from './route-records.js';

/** Credentials that no key opens are looked for this often. */
const lookMs = 30_000;

interface OwnDeps {
  readonly config: Config;
  readonly store: Store;
  readonly directory: AccountDirectory;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the request path, which is opened later. */
  readonly ports: () => CheckPorts;
}

interface OpenedOwn {
  readonly candidates: OwnCandidateMaker<OwnHealth>;
  readonly http: CredentialsPort;
}

function secretsKeyFileOf({ secrets: { keyFile }, storage: { dataDir } }: Config): string {
  return keyFile ?? join(dataDir, 'secrets.key');
}

export function keyRingOf(config: Config): KeyRing {
  return new KeyRing({ keyFile: secretsKeyFileOf(config), previousKeyFiles: config.secrets.previousKeyFiles });
}

export async function openOwnCredentials(deps: OwnDeps, parts: OpenParts): Promise<OpenedOwn> {
  const { config, store, directory, clock, logger } = deps;
  const ring = keyRingOf(config);
  const isOwnStore = config.storage.databaseUrl === null && config.secrets.keyFile === null;
  // Never where credentials are sealed with a key that was lost: another key would not open them.
  if (isOwnStore && (await store.credentials.currentKey()) === null) makeKeyFile(ring.files.keyFile);
  ring.load();
  const vault = new Vault({ ring, store: store.credentials, logger, nowMs: () => clock.monotonicMs() });
  const sightings = parts.add(new Sightings(store.credentials, clock, logger), (part) => part.close());
  directory.credentials.parts = { vault, sightings };
  const { feePercent: percent, feePerRequestPico: perRequestPico } = config.ownKeys;
  const health = new OwnHealth(clock, breakerOf(config));
  const candidates = new OwnCandidateMaker({ vault, health, sightings, fee: { percent, perRequestPico } });
  const watch = parts.add(new KeyWatch({ ring, store, vault, sightings, logger }), (part) => part.stop());
  await watch.look();
  return {
    candidates,
    http: {
      candidatesOf: (identity, routes) => candidates.candidatesOf(identity, routes),
      check: (credential) => checkCredential(deps.ports(), candidates, credential),
      written: () => sightings.write(),
      get hasKeyFault() {
        return watch.isFaulty || vault.faults.size > 0;
      },
      async rotate() {
        return rotationJson(await rotated(ring, store));
      },
    },
  };
}

async function rotated(ring: KeyRing, store: Pick<Store, 'credentials'>): Promise<RotatedSecrets> {
  try {
    return await rotateSecrets(ring, store.credentials);
  } catch (error) {
    if (error instanceof NoSecretsKey) throw gatewayError('secrets_key_missing', { fault: error.message });
    throw error;
  }
}

export function rotationJson({ keyId, wrapped, failed }: RotatedSecrets) {
  return { object: 'secrets_rotation' as const, key: keyId, wrapped, failed };
}

interface KeyWatchDeps {
  readonly ring: KeyRing;
  readonly store: Pick<Store, 'credentials'>;
  readonly vault: Vault;
  readonly sightings: Sightings;
  readonly logger: Logger;
}

/** Finds credentials that no key opens, before a request needs one. */
class KeyWatch {
  isFaulty = false;
  private readonly timer: NodeJS.Timeout;
  private readonly reported = new Set<string>();

  constructor(private readonly deps: KeyWatchDeps) {
    this.timer = setInterval(() => void this.look(), lookMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Never rejects. */
  async look(): Promise<void> {
    const { ring, store, vault, sightings, logger } = this.deps;
    try {
      await vault.retryFaults();
      const used = await store.credentials.keysInUse();
      if ([...used.keys()].some((id) => !ring.byId(id))) ring.load();
      const missing = [...used.keys()].filter((id) => !ring.byId(id));
      this.isFaulty = missing.length > 0;
      const found = missing.filter((id) => !this.reported.has(id));
      if (found.length === 0) return;
      for (const id of found) this.reported.add(id);
      const credentials = found.reduce((sum, id) => sum + (used.get(id) ?? 0), 0);
      logger.error(
        { file: ring.files.keyFile, credentials },
        'credentials of customers cannot be opened: give the key that they were sealed with in secrets.key_file or secrets.previous_key_files',
      );
      for (const each of await store.credentials.ofKeys(found)) {
        sightings.note(each, 'the key that it is sealed with is missing. Tell the operator');
      }
      await sightings.write();
    } catch (error) {
      logger.warn({ error: String(error) }, 'the keys of stored credentials could not be compared; trying again');
    }
  }
}
