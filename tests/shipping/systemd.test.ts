/** The unit of systemd: what systemd itself says of it, where it is installed, and what it names of this product. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDurationMs } from '../../src/base/time.js';
import { loadConfig } from '../../src/config/load-config.js';
import { manifest, textOf } from './shipped-files.js';

const unit = textOf('deploy/systemd/lodestone.service');
const all = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value!);
const one = (name: string) => all(name)[0]!;
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

function analyze(...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-unit-'));
  const file = join(folder, 'lodestone.service');
  // The program has to be one of this machine.
  writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return { status, text: `${stdout}${stderr}` };
}

describe('deploy/systemd/lodestone.service', () => {
  it.skipIf(!hasSystemd)('is sound to systemd-analyze verify, and its exposure is at most 1.5 of 10', () => {
    expect(analyze('verify')).toEqual({ status: 0, text: '' });
    const { status, text } = analyze('security', '--offline=yes', '--threshold=15');
    expect([status, text]).toEqual([0, expect.stringMatching(/Overall exposure level .*: 1\.\d OK/)]);
  });

  it('starts the installed program with the configuration, as the package has it', () => {
    const command = one('ExecStart');
    expect(command).toContain(` /opt/lodestone/node_modules/${manifest.name}/bin/lodestone serve --config /etc/`);
    expect((manifest as unknown as { bin: object }).bin).toEqual({ lodestone: 'bin/lodestone' });
    expect(one('LoadCredential')).toMatch(/^admin-token:/);
    expect(one('Environment')).toContain('LODESTONE_ADMIN_TOKEN_FILE=%d/admin-token');
  });

  it('writes to its state directory alone, which is data_dir without a configuration', () => {
    const { storage } = loadConfig({ env: {}, cwd: one('WorkingDirectory') });
    expect(storage.dataDir).toBe(`/var/lib/${one('StateDirectory')}/data`);
    expect(one('ProtectSystem')).toBe('strict');
    expect([all('ReadWritePaths'), one('StateDirectoryMode')]).toEqual([[], '0700']);
  });

  it('gives running answers longer than server.drain of the largest set-up we ship, and files enough', () => {
    const { server } = loadConfig({
      file: 'deploy/compose/lodestone.yaml',
      env: { LODESTONE_PUBLIC_URL: 'http://x' },
      cwd: '.',
    });
    const [, minutes] = /^(\d+)min$/.exec(one('TimeoutStopSec'))!;
    expect(parseDurationMs(`${minutes}m`)).toBeGreaterThan(server.drainMs + 20_000);
    expect(Number(one('LimitNOFILE'))).toBeGreaterThanOrEqual(4096);
    expect(one('KillMode')).toBe('mixed');
  });

  it('is named by the guide with its commands', () => {
    const guide = textOf('docs/guide/deploy.md');
    expect(guide).toContain('deploy/systemd/lodestone.service');
    expect(guide).toContain('systemd-analyze security');
  });
});
