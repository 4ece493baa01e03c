/** Runs the commands of a page of the guide that start a coding agent: in an empty folder, without a terminal and with no network but loopback. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { atGateway } from '../support/doc-examples.js';

/** The program that a variable names; undefined where it is not set. */
export function agentIn(variable: string): string | undefined {
  const program = process.env[variable];
  if (!program) return undefined;
  const { status } = spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 60_000 });
  if (status !== 0) throw new Error(`${variable} names ${program}, which does not run`);
  return resolve(program);
}

const guide = resolve(import.meta.dirname, '../../docs/guide');

/** The commands below a heading of a page. */
export function commandsOf(page: string, heading: string): string {
  const text = readFileSync(join(guide, page), 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]!);
  if (blocks.length === 0) throw new Error(`${page} has no commands below "${heading}"`);
  return blocks.join('\n');
}

export interface AgentRun {
  /** The agent's program, under the name that the commands use. */
  readonly program: string;
  readonly commands: string;
  readonly gateway: string;
  readonly key: string;
  /** What takes the place of an `auto/` id in the commands. */
  modelFor(id: string): string;
}

export interface AgentFolders {
  /** Where the agent works. */
  readonly work: string;
  /** Where it keeps its settings. */
  readonly home: string;
}

export interface AgentResult {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

const timeoutMs = 150_000;
/** Nothing listens there, so whatever an agent asks of the internet fails at once. */
const nowhere = 'http://127.0.0.1:9';

/** Empty folders, which are gone afterwards. */
export async function withAgentFolders<T>(use: (folders: AgentFolders) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-agent-'));
  const folders = { work: join(folder, 'work'), home: join(folder, 'home') };
  for (const each of Object.values(folders)) mkdirSync(each);
  try {
    return await use(folders);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function runAgent(run: AgentRun, { work, home }: AgentFolders): Promise<AgentResult> {
  const commands = atGateway(run.commands, run.gateway).replaceAll(/\bauto\/[\w./-]+/g, run.modelFor);
  const child = spawn('bash', ['-eu', '-c', commands], {
    cwd: work,
    env: {
      PATH: `${dirname(run.program)}${delimiter}${process.env.PATH}`,
      HOME: home,
      LODESTONE_KEY: run.key,
      ...{ HTTPS_PROXY: nowhere, HTTP_PROXY: nowhere, NO_PROXY: '127.0.0.1' },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  });
  const said = { output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.errors += text;
  });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (status) => done({ status, ...said }));
  });
}
