/** Opens the exchange of tokens of workloads for keys, with what reads the keys of their issuers. */
import { readFile } from 'node:fs/promises';
import type { AuditLog } from '../accounts/audit.js';
import type { AccountDirectory } from '../accounts/directory.js';
import { IssuerKeys } from '../accounts/workloads/issuer-keys.js';
import { TokenExchange } from '../accounts/workloads/token-exchange.js';
import { isLoopbackHost } from '../base/ip-address.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { peerOf } from '../limits/rate-limits.js';
import { download } from '../providers/transport/download.js';
import type { Store } from '../storage/store.js';
import type { Deployment } from './deployment.js';

const bytesMax = 1_048_576;
const downloadMs = 10_000;

interface ExchangeParts {
  config: Config;
  env: Readonly<Record<string, string | undefined>>;
  store: Store;
  clock: Clock;
  audit: AuditLog;
  directory: AccountDirectory;
  deployment: Pick<Deployment, 'counters'>;
  noteNewKey: (expiresAt: number) => void;
  base: () => string;
}

export function openTokenExchange({ config, env, deployment, directory, ...parts }: ExchangeParts): TokenExchange {
  const { store, clock } = parts;
  const keys = new IssuerKeys(config.workloadIssuers, {
    download: async (url) => download(checkedAddress(url), bytesMax, env, { redirects: 0, ms: downloadMs }),
    readFile,
    monotonicMs: () => clock.monotonicMs(),
  });
  return new TokenExchange({
    ...{ ...parts, store: store.workloads, keys, peerOf, account: (id) => directory.account(id) },
    exchanges: deployment.counters('exchanges'),
    failures: deployment.counters('exchange failures'),
  });
}

/** An issuer names where its keys are, so that address is checked too. */
function checkedAddress(url: string): string {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return url;
  throw new Error(`${url.slice(0, 200)} is not https`);
}
