/** The runnable examples of the guide: code blocks marked `run`, a `curl` line sent as it stands, or a script run by Node. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
/** The address that the guide shows. */
const shownAddress = 'http://127.0.0.1:8787';

export interface DocExample {
  page: string;
  line: number;
  language: 'sh' | 'ts';
  code: string;
  /** The HTTP status that a `curl` line must get. */
  status: number | undefined;
  /** What the answer or the output must hold. */
  has: string | undefined;
}

export function examplesOf(page: string): DocExample[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  return [...text.matchAll(/^```(\w+) run(?:=(\d+))?(?: has=(\S+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] as 'sh' | 'ts',
    code: match[4]!,
    status: match[2] === undefined ? undefined : Number(match[2]),
    has: match[3],
  }));
}

/** Blocks that look runnable: each should be marked, or have a reason not to be. */
export function unmarkedCurls(page: string): string[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .map((match) => match[1]!)
    .filter((code) => /\bcurl\b/.test(code));
}

export interface CurlCall {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** One `curl` command, with the options that the guide uses. An option that is not known is a fault. */
export function curlCall(code: string, env: Record<string, string>): CurlCall {
  const [command, ...words] = shellWords(code, env);
  if (command !== 'curl') throw new Error(`a command other than curl: ${command}`);
  const call: CurlCall = { method: '', url: '', headers: {}, body: undefined };
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === '-X') call.method = words[++i]!;
    else if (word === '-d') call.body = words[++i]!;
    else if (word === '-H') {
      const [name, ...value] = words[++i]!.split(': ');
      call.headers[name!.toLowerCase()] = value.join(': ');
    } else if (word.startsWith('-') && word !== '-N') throw new Error(`curl ${word} is not known here`);
    else if (!word.startsWith('-')) call.url = word;
  }
  return { ...call, method: call.method || (call.body === undefined ? 'GET' : 'POST') };
}

/** Words as a shell would split them: single quotes are literal, double quotes expand variables, a backslash joins lines. */
export function shellWords(code: string, env: Record<string, string>): string[] {
  const expanded = (text: string) =>
    text.replace(/\$(\w+)/g, (_, name: string) => {
      if (!(name in env)) throw new Error(`$${name} is not set`);
      return env[name]!;
    });
  const words = code.replaceAll('\\\n', ' ').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g);
  return [...words].map(([word]) =>
    [...word.matchAll(/'([^']*)'|"([^"]*)"|([^'"]+)/g)]
      .map(([, single, double, bare]) => single ?? expanded(double ?? bare ?? ''))
      .join(''),
  );
}

export function atGateway(code: string, url: string): string {
  return code.replaceAll(shownAddress, url);
}

/** What a script prints. It stands in the checkout while it runs, so that it finds the packages. */
export async function runScript(code: string, env: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(root, 'node_modules', '.doc-example-'));
  const file = join(folder, 'example.mjs');
  writeFileSync(file, code);
  try {
    return await outputOf(file, env);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf(file: string, env: Record<string, string>): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [file], { env: { PATH: process.env.PATH, ...env } });
    let output = '';
    child.stdout.on('data', (piece) => (output += piece));
    child.stderr.on('data', (piece) => (output += piece));
    child.once('error', fail);
    child.once('close', (code) =>
      code === 0 ? done(output) : fail(new Error(`the example ended with ${code}: ${output}`)),
    );
  });
}
