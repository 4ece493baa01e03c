/**
 * Schemathesis generates requests from /openapi.json, valid and invalid ones, and holds the gateway to its description: all operations,
 * with a key and with the admin token, in its coverage and fuzzing phases. It is a Python program: `SCHEMATHESIS` names it, or it is on
 * the PATH; without it the run is skipped by name.
 *
 *   node tests/long/openapi-fuzz.mjs [examples an operation, 100 by default]
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { admin, adminToken, startSoakGateway } from '../soak/soak-gateway.mjs';

const program = process.env.SCHEMATHESIS || 'schemathesis';
const examples = process.argv[2] ?? '100';
const hooks = join(import.meta.dirname, 'openapi_fuzz_hooks.py');

if (spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0) await fuzz();
else
  console.log(
    'Skipped: tests/long/openapi-fuzz.mjs (there is no schemathesis on the PATH, and SCHEMATHESIS names none)',
  );

async function fuzz() {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-fuzz-'));
  const gateway = await startSoakGateway({
    upstreamUrl: 'http://127.0.0.1:9',
    config: {
      catalogue: ['builtin'],
      payments: { processor: 'stripe', secret_key: 'sk_test_of_no_value', webhook_secret: 'whsec_of_no_value' },
    },
  });
  try {
    const configFile = join(folder, 'schemathesis.toml');
    writeFileSync(configFile, configOf(gateway.account.key, await managementKey(gateway)));
    const refusals = join(folder, 'refusals.jsonl');
    const args = ['--config-file', configFile, 'run', `${gateway.url}/openapi.json`];
    args.push('--phases', 'coverage,fuzzing', '--max-examples', examples, '--continue-on-failure', '--no-color');
    args.push(
      '--exclude-checks',
      'positive_data_acceptance,ignored_auth,not_a_server_error',
      '--generation-database',
      'none',
    );
    // It keeps what it found in its working directory, so that is a temporary one.
    process.exitCode = await run(args, folder, { SCHEMATHESIS_HOOKS: hooks, LODESTONE_FUZZ_REFUSALS: refusals });
    tellRefusals(refusals);
  } finally {
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Each operation is called with the credential that the document asks for. */
function configOf(key, management) {
  const bearer = (scheme, token) => `[auth.openapi.${scheme}]\nbearer = "${token}"\n`;
  return bearer('apiKey', key) + bearer('managementKey', management) + bearer('adminToken', adminToken);
}

/** Of another account, because the run changes and deletes keys of the account. */
async function managementKey({ url }) {
  const { id } = await admin(url, 'POST', '/accounts', { email: 'management@example.test' });
  const body = { name: 'management', expires: 'never', kind: 'management' };
  const { token } = await admin(url, 'POST', `/accounts/${id}/keys`, body);
  return token;
}

function run(args, cwd, env) {
  const child = spawn(program, args, { cwd, stdio: 'inherit', env: { ...process.env, ...env } });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function tellRefusals(file) {
  const counts = new Map();
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []) {
    const { why, operation } = JSON.parse(line);
    const name = `${operation}: ${why}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  console.log('Refused though the schema allows them, because of what is stored, the clock or a secret:');
  for (const [name, count] of counts) console.log(`  ${count} × ${name}`);
}
