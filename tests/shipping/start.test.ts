/** What `npm start` and `lodestone` make of their arguments and of the system that they run on. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { platformFault } from '../../bin/platform.mjs';
import { readArguments, usage } from '../../scripts/start-arguments.mjs';
import { manifest, root } from './shipped-files.js';

const underNpm = { npm_lifecycle_event: 'start', INIT_CWD: '/home/anna/shop' };
/** As if by Node on Windows. */
const onWindows = ['--import', `data:text/javascript,Object.defineProperty(process,'platform',{value:'win32'})`];

function run(args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('the arguments of npm start', () => {
  it('are none, or a configuration file, from where the caller stands', () => {
    expect(readArguments([], underNpm)).toEqual({ serve: [] });
    const chosen = { serve: ['--config', '/home/anna/shop/eu.yaml'] };
    expect(readArguments(['--config', 'eu.yaml'], underNpm)).toEqual(chosen);
    expect(readArguments(['--config=eu.yaml'], underNpm)).toEqual(chosen);
    expect(readArguments(['serve', '--config', '/etc/eu.yaml'], {})).toEqual({ serve: ['--config', '/etc/eu.yaml'] });
    // A program that npm has started, and that runs the script by itself.
    const standing = { serve: ['--config', join(process.cwd(), 'eu.yaml')] };
    expect(readArguments(['--config', 'eu.yaml'], { ...underNpm, npm_lifecycle_event: 'test' })).toEqual(standing);
  });

  it.each([
    [['--port', '80'], 'npm start has no option "--port"'],
    [['eu.yaml'], 'npm start -- --config eu.yaml'],
    [['--config'], '--config needs a file'],
    [['--config='], '--config needs a file'],
    [['--config', '--help'], '--config needs a file'],
  ])('are refused with a line about what is wrong: %j', (argv, text) => {
    expect(readArguments(argv, underNpm)).toEqual({ fault: expect.stringContaining(text) });
  });

  it('are missed where npm keeps them for itself, and the line to run is told', () => {
    const told = { fault: expect.stringContaining('Run: npm start -- --config eu.yaml') };
    expect(readArguments(['eu.yaml'], { ...underNpm, npm_config_config: 'true' })).toEqual(told);
    expect(readArguments([], { ...underNpm, npm_config_config: 'eu.yaml' })).toEqual(told);
  });

  it('end a start before it installs or builds: 2 where they are wrong, 0 where they ask for help', () => {
    const start = (...args: string[]) => run(['scripts/start.mjs', ...args]);
    expect(start('--port')).toEqual({ status: 2, stdout: '', stderr: expect.stringContaining('"--port"') });
    expect(start('--help')).toEqual({ status: 0, stdout: `${usage}\n`, stderr: '' });
  });

  it('reach the last program of the script: npm appends them', () => {
    expect(manifest.scripts.start).toBe('exec node scripts/start.mjs');
  });
});

describe('on Windows', () => {
  it('a start says what to do instead, in WSL and in a container', () => {
    expect(platformFault('win32')).toMatch(/does not run on Windows.*\n.*wsl --install.*\n.*docker build/);
    for (const platform of ['linux', 'darwin']) expect(platformFault(platform)).toBeUndefined();
  });

  it.each([
    [manifest.scripts.prestart!.replace('node ', '')],
    ['bin/lodestone'],
    ['bin/lodestone', 'serve'],
    ['bin/lodestone', '--config', 'eu.yaml'],
  ])('that is all that it does: %s %s', (...args) => {
    const said = run([...onWindows, ...args]);
    expect(said).toEqual({ status: 1, stdout: '', stderr: `${platformFault('win32')}\n` });
  });

  it('the commands that ask a running gateway work', () => {
    expect(run([...onWindows, 'bin/lodestone', 'help'])).toMatchObject({ status: 0, stderr: '' });
  });
});
