/** Every command of the README and the guide that installs something: those of this package are run, others name known packages. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesIn, lock, manifest, root, textOf } from './shipped-files.js';

const pages = ['README.md', ...filesIn('docs/guide').filter((path) => path.endsWith('.md'))];
const commands = pages.flatMap((page) =>
  [...textOf(page).matchAll(/\bnpm (?:install|i|add|ci|pack|exec)\b[^`\n#|]*/g)].map(([text]) => ({
    page,
    command: text.trim(),
  })),
);
/** Packages of others that no test of this repository installs, each with the name that its makers document. */
const documentedElsewhere = ['@anthropic-ai/claude-code', '@openai/codex', 'node'];
const tarball = `lodestone-gateway-lodestone-${manifest.version}.tgz`;
/** Those that run in a checkout, and name nothing. */
const inCheckout = ['npm pack', 'npm ci', 'npm ci --ignore-scripts'];
const installs = commands.filter(({ command }) => !inCheckout.includes(command));
const isOwn = ({ command }: { command: string }) => command.includes('lodestone');

/** What an npm command names beside its options. */
function packagesOf(command: string): string[] {
  return command
    .replace(/--prefix \S+/, '')
    .split(/\s+/)
    .slice(2)
    .filter((word) => !word.startsWith('-'));
}

describe('this package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-install-'));
  const checkout = join(folder, 'checkout');
  const home = join(folder, 'home');
  // Nothing is asked of the registry, which does not have this package: somebody else may have the name there one day.
  const env = { ...process.env, npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };
  const run = (cwd: string, command: string) => execFileSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
  beforeAll(() => {
    // Its own files only: the packages that it needs come from the registry (tests/long/packed-install.mjs installs them all).
    const { name, version, type, bin, files } = manifest as unknown as Record<string, unknown>;
    mkdirSync(checkout);
    mkdirSync(home);
    writeFileSync(join(checkout, 'package.json'), JSON.stringify({ name, version, type, bin, files }));
    cpSync(join(root, 'bin'), join(checkout, 'bin'), { recursive: true });
    run(checkout, 'npm pack');
    // Beside it, as a release has it. It lists more files than somebody downloads.
    run(checkout, `sha256sum ${tarball} package.json > ${home}/SHA256SUMS`);
    cpSync(join(checkout, tarball), join(home, tarball));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is packed and installed as the README says', () => {
    const shown = commands.filter(({ page }) => page === 'README.md').map(({ command }) => command);
    expect(new Set(shown)).toEqual(new Set(['npm pack', `npm install ./${tarball}`]));
    const lines = textOf('README.md').split('\n');
    const answered = lines.findIndex((line) => line.includes('"messages"'));
    expect(answered, 'one screen until the first answer').toBeLessThan(30);
  });

  it('is checked before by the command of the README, which finds a flipped byte', () => {
    const [check] = /sha256sum --check[^#\n]*/.exec(textOf('README.md'))!;
    expect(run(home, check)).toBe(`${tarball}: OK\n`);
    const bytes = readFileSync(join(home, tarball));
    bytes[100]! ^= 1;
    writeFileSync(join(home, tarball), bytes);
    expect(() => run(home, check)).toThrow();
    cpSync(join(checkout, tarball), join(home, tarball));
  });

  it.each(installs.filter(isOwn))('is installed by "$command" ($page), without the registry', ({ command }) => {
    rmSync(join(home, 'node_modules'), { recursive: true, force: true });
    // A folder of the system's is one of the test's here.
    run(home, command.replace('/opt/lodestone', home));
    // The command that npx runs. It has no compiled part here, and says so.
    expect(() => run(home, 'node_modules/.bin/lodestone help')).toThrow('Lodestone is not built yet');
  });
});

it.each(installs.filter((one) => !isOwn(one)))(
  '"$command" ($page) names only packages that are known',
  ({ command }) => {
    const names = packagesOf(command).map((word) => word.replace(/(?<=.)@.*$/, ''));
    expect(names).not.toEqual([]);
    const known = (name: string) => `node_modules/${name}` in lock.packages || documentedElsewhere.includes(name);
    expect(names.filter((name) => !known(name))).toEqual([]);
  },
);

it('nothing is installed in another way', () => {
  const others =
    /\b(?:yarn|pnpm|bun) (?:add|install|dlx)|\bpip3? install|\bbrew install|(?:^|`)npx (?!lodestone\b)|\| *(?:ba)?sh\b/m;
  expect(pages.filter((page) => others.test(textOf(page)))).toEqual([]);
});
