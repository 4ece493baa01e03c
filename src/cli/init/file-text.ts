/** The commented `lodestone.yaml` that the answers of `lodestone init` make. */
import { isLoopbackHost } from '../../base/ip-address.js';
import type { KnownProviders } from './known-providers.js';
import { type Answers, isReference, noDatabase, nothing, providersOf } from './questions.js';

const portDefault = 8787;

export function fileText(answers: Answers, providers: KnownProviders): string {
  return `# The configuration of Lodestone, written by "lodestone init". All other fields have their defaults:
# docs/guide/configuration.md, or /docs/configuration of a running gateway, lists them.
# \${NAME} is replaced by the environment variable NAME. "lodestone doctor" checks this file and the host.

${[serverPart(answers), storagePart(answers), providersPart(answers, providers)].join('\n')}`;
}

function serverPart({ address }: Answers): string {
  const { protocol, hostname, port } = addressOf(address);
  if (protocol === 'http:' && isLoopbackHost(hostname))
    return `server:
  # Only this machine can connect. 0.0.0.0 lets others connect; then set base_url too.
  host: ${hostname === 'localhost' ? '127.0.0.1' : JSON.stringify(hostname.replace(/^\[|\]$/g, ''))}
  port: ${port || 80}
`;
  const proxy =
    protocol === 'https:'
      ? `  # A proxy in front has the certificate. Name its addresses, or everybody behind it counts as one client.
  # trusted_proxies: [10.0.0.0/8]
`
      : '';
  return `server:
  # Every network of this machine can connect.
  host: 0.0.0.0
  port: ${protocol === 'http:' && port ? port : portDefault}
  # The address that clients use. Cookies and links follow it.
  base_url: ${JSON.stringify(address)}
${proxy}`;
}

/** A reference has no parts yet. */
function addressOf(address: string): Pick<URL, 'protocol' | 'hostname' | 'port'> {
  return isReference(address) ? { protocol: 'https:', hostname: '', port: '' } : new URL(address);
}

function storagePart(answers: Answers): string {
  const database = answers['database-url'];
  const redis = answers['redis-url'];
  const databaseLines =
    database === noDatabase
      ? `  # Without database_url Lodestone runs a PostgreSQL of its own in data_dir.
  # database_url: "\${LODESTONE_DATABASE_URL}"
`
      : `  # Holds all billing data: back it up.
  database_url: ${JSON.stringify(database)}
`;
  const redisLines =
    redis === nothing
      ? `  # Several processes (workers, replicas) need a Redis or Valkey that they share.
  # redis_url: "\${LODESTONE_REDIS_URL}"
`
      : `  # Shared by all processes. It needs no persistence: set maxmemory-policy allkeys-lru.
  redis_url: ${JSON.stringify(redis)}
`;
  return `storage:
  # Holds the settlement journal and the admin token. Keep it on a disk that survives a restart.
  data_dir: ${JSON.stringify(answers['data-dir'])}
${databaseLines}${redisLines}`;
}

function providersPart(answers: Answers, providers: KnownProviders): string {
  const chosen = providersOf(answers.providers);
  if (chosen.length === 0)
    return `# Without a provider only the sandbox answers. A provider whose variable is not set is left out.
# providers:
#   mistral: { api_key: "\${MISTRAL_API_KEY}" }
`;
  const lines = chosen.map((id) => {
    const variable = providers.get(id)?.api_key_env;
    if (variable) return `  ${id}: { api_key: "\${${variable}}" }\n`;
    return `  # It finds its credentials itself: docs/guide/providers.md.\n  ${id}: {}\n`;
  });
  return `# A provider whose variable is not set is left out. "lodestone provider check" calls each of them once.
providers:
${lines.join('')}`;
}
