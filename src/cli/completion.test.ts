import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { main } from './cli.js';

async function script(shell: string): Promise<string> {
  const out: string[] = [];
  const io = { out: (line: string) => void out.push(line), err: () => {}, env: {}, cwd: '/' };
  expect(await main(['completion', shell], io)).toBe(0);
  return out.join('\n');
}
const isHere = (program: string) => spawnSync(program, ['--version']).error === undefined;

describe('shell completion', () => {
  it.each([
    [['ini'], ['init']],
    [['key', 'cr'], ['create']],
    [
      ['key', ''],
      ['create', 'update', 'list', 'delete'],
    ],
    [['key', 'create', '--acc'], ['--account']],
    [['init', '--prov'], ['--providers']],
    [['doctor', '--js'], ['--json']],
    [['serve', '--con'], ['--config']],
  ])('bash completes %j', async (words, expected) => {
    const line = ['lodestone', ...words].map((word) => `'${word}'`).join(' ');
    const asked = `${await script('bash')}\nCOMP_WORDS=(${line}) COMP_CWORD=${words.length}\n_lodestone\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    const found = execFileSync('bash', ['--norc', '-c', asked], { encoding: 'utf8' }).trim().split('\n');
    expect(found).toEqual(expect.arrayContaining(expected));
    if (words.at(-1) !== '') expect(found).toEqual(expected);
  });

  it.each(['zsh', 'fish'])(
    '%s gets every command, in a script that it can read where it is installed',
    async (shell) => {
      const text = await script(shell);
      for (const word of ['init', 'doctor', 'key', 'rotate-key', 'completion']) expect(text).toContain(word);
      if (isHere(shell)) execFileSync(shell, ['-n'], { input: text });
    },
  );

  it('another shell is refused with the names of these', async () => {
    const err: string[] = [];
    const io = { out: () => {}, err: (line: string) => void err.push(line), env: {}, cwd: '/' };
    expect(await main(['completion', 'tcsh'], io)).toBe(2);
    expect(err.join()).toContain('"tcsh" is no shell, expected bash, zsh, fish');
  });
});
