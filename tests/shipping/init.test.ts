// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration writes its references this way
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/cli.js';
import { loadConfig } from '../../src/config/load-config.js';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-init-'));
  return () => rmSync(cwd, { recursive: true });
});

/** Without answers nobody sits at a terminal. */
async function run(argv: string[], answers?: string[], env: Record<string, string> = {}) {
  const [out, err, asked]: [string[], string[], string[]] = [[], [], []];
  const code = await main(['init', ...argv], {
    ...{ out: (line) => out.push(line), err: (line) => err.push(line), env, cwd },
    ...(answers && {
      ask: async (question: string) => {
        asked.push(question);
        return answers.shift()!;
      },
    }),
  });
  return { code, out: out.join('\n'), err: err.join('\n'), asked };
}
const written = (file = 'lodestone.yaml') => readFileSync(join(cwd, file), 'utf8');
const config = (env: Record<string, string> = {}) => loadConfig({ env, cwd });

describe('lodestone init', () => {
  it('asks five questions, each with its default, and writes a commented file that the configuration check passes', async () => {
    const { code, out, asked } = await run([], ['', '', '', '', '']);
    expect([code, asked.length]).toEqual([0, 5]);
    expect(asked.map((question) => /^(\d)\/5 .*\[(.+)\] $/.exec(question)?.slice(1))).toEqual([
      ['1', 'http://127.0.0.1:8787'],
      ['2', './data'],
      ['3', 'embedded'],
      ['4', 'none'],
      ['5', 'none'],
    ]);
    expect(out).toContain('lodestone doctor');
    expect(
      written()
        .split('\n')
        .filter((line) => line.trimStart().startsWith('#')).length,
    ).toBeGreaterThan(8);
    const { server, storage, providers } = config();
    expect([server.host, server.port, storage.dataDir, storage.databaseUrl, storage.redisUrl, providers]).toEqual([
      ...['127.0.0.1', 8787, join(cwd, 'data'), null, null, {}],
    ]);
  });

  it('writes what was answered, and names the variables that are not set', async () => {
    const databaseUrl = 'postgres://u:p4%23w@db.example/l';
    const answers = ['https://ai.example.com', '/srv/lodestone', databaseUrl, '${REDIS}', 'mistral, vertex'];
    const { code, out } = await run([], answers);
    expect(code).toBe(0);
    expect(out).toContain('Set REDIS, MISTRAL_API_KEY, which it names.');
    expect(out).not.toMatch(/p4(%23|#)w/);
    const { server, storage, providers } = config({ REDIS: 'redis://r.example', MISTRAL_API_KEY: 'sk-1' });
    expect([server.host, server.port, server.baseUrl]).toEqual(['0.0.0.0', 8787, 'https://ai.example.com']);
    expect(storage).toMatchObject({ dataDir: '/srv/lodestone', databaseUrl, redisUrl: 'redis://r.example' });
    expect([providers.mistral?.apiKey, 'vertex' in providers]).toEqual(['sk-1', true]);
    expect(statSync(join(cwd, 'lodestone.yaml')).mode & 0o777, 'it has a password').toBe(0o600);
  });

  it('asks again where an answer is not accepted, without its password', async () => {
    const answers = ['ftp://x', '', '', 'postgres//u', 'http://u:s3cret@h', '', 'rediss:/x', '', 'acme', 'openai'];
    const { code, err } = await run([], answers);
    expect(code).toBe(0);
    expect(err.split('\n')).toHaveLength(5);
    expect(err).toContain('"acme" is not built in, expected some of');
    expect(err).not.toContain('s3cret');
    expect(written()).toContain('openai: { api_key: "${OPENAI_API_KEY}" }');
  });

  it.each<[string[], object]>([
    [[], { host: '127.0.0.1', port: 8787 }],
    [['--yes', '--address', 'http://localhost:9000'], { host: '127.0.0.1', port: 9000 }],
    [['--address', 'http://[::1]:9000'], { host: '::1', port: 9000 }],
    [['--address', 'http://10.0.0.7:9000'], { host: '0.0.0.0', port: 9000, baseUrl: 'http://10.0.0.7:9000' }],
  ])('without a terminal: %j', async (argv, server) => {
    expect((await run(argv)).code).toBe(0);
    expect(config().server).toMatchObject(server);
  });

  it('with --yes a terminal is asked nothing', async () => {
    expect((await run(['--yes', 'mine.yaml'], [])).asked).toEqual([]);
    expect(written('mine.yaml')).toContain('server:');
  });

  it.each([
    [['--address', 'nowhere'], 2, '--address: found "nowhere", expected an http:// or https:// address'],
    [['--providers', 'openai,nobody'], 2, '"nobody" is not built in'],
    [['--redis-url', 'redis//'], 2, '--redis-url'],
    [['none/such/dir.yaml'], 1, 'cannot be written (ENOENT)'],
  ])('%j ends with %i and writes nothing', async (argv, exit, message) => {
    const { code, err } = await run(argv);
    expect([code, err]).toEqual([exit, expect.stringContaining(message)]);
    expect(() => written()).toThrow('ENOENT');
  });

  it('keeps a file that exists, except with --force', async () => {
    writeFileSync(join(cwd, 'lodestone.yaml'), 'mine');
    const { code, err } = await run([]);
    expect([code, err]).toEqual([1, expect.stringContaining('exists already')]);
    expect(written()).toBe('mine');
    expect((await run(['--force'])).code).toBe(0);
    expect(written()).toContain('server:');
  });

  it('--json names the file and the variables', async () => {
    const { out } = await run(['--json', '--providers', 'openai']);
    expect(JSON.parse(out)).toEqual({ file: join(cwd, 'lodestone.yaml'), absent_variables: ['OPENAI_API_KEY'] });
  });
});
