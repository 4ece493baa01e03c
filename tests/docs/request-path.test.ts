/** The files that a warm chat request passes through, counted by V8 while one is served, against the list in docs/request-path.md. */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, useGateway } from '../api/harness.js';
import { RawConnection, requestBytes } from '../support/raw-http.js';

const root = join(import.meta.dirname, '../..');
const compiled = join(root, 'dist');
/** A request is the easier to follow, and the warmer, the fewer files it passes through. Lower it where the path became shorter. */
const filesMax = 79;
/** The log of receipts is sealed beside the requests, whenever one was settled. */
const beside = /^src\/(?:sealing|storage)\//;
const warmUps = 20;
/** So many requests are watched, each by itself. What a timer runs beside one of them is not beside all. */
const watched = 5;

const bench = useGateway();
let files: string[];

beforeAll(async () => {
  const { gateway } = bench;
  const { key } = await gateway.createAccount({ credit: '10.00' });
  const connection = await RawConnection.open(gateway.url);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const request = requestBytes('POST', '/v1/chat/completions', headers, JSON.stringify(ask()));
  let sent = 0;
  const send = async () => {
    sent++;
    await connection.write(request);
    await connection.readUntil((bytes) => bytes.toString('latin1').split('"router_metadata"').length === sent + 1);
  };
  for (let i = 0; i < warmUps; i++) await send();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const runs: Set<string>[] = [];
  for (let i = 0; i < watched; i++) {
    await calledFiles(session);
    await send();
    // The end of the request follows the end of its answer.
    await new Promise(setImmediate);
    runs.push(await calledFiles(session));
  }
  session.disconnect();
  connection.close();
  files = [...runs[0]!].filter((file) => runs.every((run) => run.has(file))).sort();
});

/** The files of the gateway of which a function was called since the last call of this one. */
async function calledFiles(session: Session): Promise<Set<string>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const called = new Set<string>();
  for (const { url, functions } of result) {
    if (!url.startsWith('file:') || !functions.some(({ ranges }) => ranges[0]!.count > 0)) continue;
    const file = relative(compiled, fileURLToPath(url));
    const source = `src/${file.replace(/\.js$/, '.ts')}`;
    if (!file.startsWith('..') && !beside.test(source)) called.add(source);
  }
  return called;
}

/** The paths in the list at the end of the page: folders, each with the files in it. */
function listedFiles(): string[] {
  const page = readFileSync(join(root, 'docs/request-path.md'), 'utf8');
  const [, list = ''] = page.split('## The files of a warm request\n');
  const rows = [...list.matchAll(/^\| `(src\/[\w/-]+)` \| (.+) \|$/gm)];
  return rows.flatMap(([, folder, names]) => names!.split(', ').map((name) => `${folder}/${name}.ts`)).sort();
}

describe('a warm chat request', () => {
  it(`passes through at most ${filesMax} files`, () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(filesMax);
  });

  it('passes through the files that the page lists', () => expect(files).toEqual(listedFiles()));
});
