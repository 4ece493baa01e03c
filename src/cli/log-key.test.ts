import { expect, it } from 'vitest';
import { readSignerKey } from '../proof/note.js';
import { main } from './cli.js';

async function run(line: string): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const io = { out: (text: string) => out.push(text), err: (text: string) => err.push(text), env: {}, cwd: '/' };
  const code = await main(line.split(' '), io);
  return { code, out: out.join('\n'), err: err.join('\n') };
}

it('log new-key prints a key of that origin and nothing else, another one each time', async () => {
  const [first, second] = [await run('log new-key llm.example.com/log'), await run('log new-key llm.example.com/log')];
  for (const { code, out, err } of [first, second]) {
    expect([code, err]).toEqual([0, '']);
    expect(readSignerKey(out)?.verifier.name).toBe('llm.example.com/log');
  }
  expect(first.out).not.toBe(second.out);
  const { key, verifier_key: verifier } = JSON.parse((await run('log new-key a/log --json')).out);
  expect(readSignerKey(key)?.verifier.text).toBe(verifier);
});

it.each([
  ['log new-key', 'ORIGIN'],
  ['log new-key a+b/log', '"a+b/log" cannot be an origin'],
])('%s fails and says why', async (line, text) => {
  const { code, out, err } = await run(line);
  expect(code).not.toBe(0);
  expect(out).toBe('');
  expect(err).toContain(text);
});
