/**
 * Other gateways to compare with, as their registries ship them: LiteLLM from PyPI and Portkey from npm. `--install` installs them into
 * a folder below the system's folder for temporary files, where later runs find them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LeftOut } from './left-out.mjs';
import { freePort } from './lodestone.mjs';
import { listening, requireProgram } from './peer-proxies.mjs';
import { start } from './processes.mjs';

const installed = join(tmpdir(), 'lodestone-bench-peers');
const portkeyServer = join('node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
const installMs = 10 * 60_000;
const slowStartMs = 90_000;

export async function startPortkey(rig) {
  const folder = join(installed, 'portkey');
  const server = join(folder, portkeyServer);
  if (!existsSync(server) && rig.install)
    install('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '@portkey-ai/gateway']);
  if (!existsSync(server)) throw new LeftOut('Portkey is not installed; --install fetches it from npm');
  const port = await freePort();
  const entry = start(process.execPath, [server, `--port=${port}`, '--headless'], { env: { NODE_ENV: 'production' } });
  const upstream = `http://127.0.0.1:${rig.upstreamPort}/v1`;
  const headers = `x-portkey-provider: openai\r\nx-portkey-custom-host: ${upstream}\r\n`;
  return { ...(await listening(entry, port, slowStartMs)), headers };
}

export async function startLitellm(rig) {
  const python = join(installed, 'litellm');
  const program = join(python, 'bin', 'litellm');
  if (!existsSync(program) && rig.install) {
    requireProgram('python3', ['--version']);
    install('python3', ['-m', 'venv', python]);
    install(join(python, 'bin', 'pip'), ['install', '--quiet', 'litellm[proxy]']);
  }
  if (!existsSync(program)) throw new LeftOut('LiteLLM is not installed; --install fetches it from PyPI');
  const { folder, upstreamPort } = rig.place('litellm');
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'litellm.yaml');
  const key = 'sk-bench';
  // JSON is YAML too.
  writeFileSync(
    config,
    JSON.stringify({
      model_list: [
        {
          model_name: 'gpt-4o-mini',
          litellm_params: {
            model: 'openai/gpt-4o-mini',
            api_base: `http://127.0.0.1:${upstreamPort}/v1`,
            api_key: 'none',
          },
        },
      ],
      general_settings: { master_key: key },
    }),
  );
  const port = await freePort();
  const args = ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'];
  const entry = start(program, args, { cwd: folder, env: { LITELLM_LOG: 'ERROR', LITELLM_TELEMETRY: 'False' } });
  return { ...(await listening(entry, port, slowStartMs)), key };
}

function install(command, args) {
  mkdirSync(installed, { recursive: true });
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: installMs });
  if (status !== 0) throw new LeftOut(`it could not be installed: ${command} ${args[0]} failed`);
}
