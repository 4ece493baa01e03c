/** `lodestone log …`: checks the whole log of receipts, and an export of the audit log against it, makes the key that signs it, and replaces it. */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { AuditExport } from '../../proof/check-audit.js';
import { type LogSource, verifyLog } from '../../proof/check-log.js';
import { isKeyName, newSigner } from '../../proof/note.js';
import { tilePath } from '../../proof/tiles.js';
import { type Command, type CommandContext, required, text } from '../command.js';
import { findUrl } from '../connection.js';
import { CommandFailure, readNamed, unreadable } from '../io.js';
import { throughServer } from './storage.js';

export const logCommands: readonly Command[] = [
  {
    name: 'log verify',
    parameters: '[--since CHECKPOINT_FILE] [--audit FILE] URL',
    summary:
      'Check the log of receipts of the gateway at URL against its signed checkpoint; with --since, also that nothing was rewritten since; with --audit, also that an export of the audit log is complete and unchanged.',
    options: { since: text, audit: text },
    positionalsMax: 1,
    run: verify,
  },
  {
    name: 'log new-key',
    parameters: 'ORIGIN',
    summary:
      'Print a new key for the file that proof.key_file names, where several machines need the same one. ORIGIN is the host of server.base_url and /log, such as llm.example.com/log.',
    positionalsMax: 1,
    run: printNewKey,
  },
  {
    name: 'log rotate-key',
    parameters: '',
    summary: 'Replace the key that signs the log of receipts, also while the gateway runs. The old one stays listed.',
    positionalsMax: 0,
    run: rotate,
  },
];

async function verify({ io, json, positionals, options, markFailed }: CommandContext): Promise<void> {
  const given = positionals[0] ?? options.url;
  // Who has an export is most often the operator, who has the configuration too.
  if (options.audit === undefined) required(given, 'The address of the gateway (URL)');
  const url = findUrl({ url: given, config: options.config }, io);
  const since =
    options.since === undefined ? null : checkpointIn(readNamed(resolve(io.cwd, options.since), io).toString('utf8'));
  const audit = options.audit === undefined ? null : await auditExportIn(resolve(io.cwd, options.audit));
  const { checked, faults, checkpoint, notCompared } = await verifyLog(sourceAt(url), since, audit);
  const holds = faults.length === 0 && notCompared === null;
  if (!holds) markFailed();
  if (json) {
    const found = notCompared === null ? faults : [notCompared];
    io.out(JSON.stringify({ ok: holds, checked, faults: found, checkpoint }, null, 2));
    return;
  }
  for (const line of checked) io.out(`ok    ${line}`);
  for (const line of faults) io.out(`FAULT ${line}`);
  if (notCompared !== null) {
    io.out(notCompared);
  } else if (holds && checkpoint !== null) {
    io.out('The log holds. Keep this checkpoint, and give it with --since the next time:\n');
    io.out(checkpoint.trimEnd());
  } else {
    io.out(audit?.faults.length ? 'The export does not hold.' : 'The log does not hold.');
  }
}

/** The file is a checkpoint, or what this command printed, which ends with one, or has it as a member. */
function checkpointIn(text: string): string {
  try {
    const { checkpoint } = JSON.parse(text) as { checkpoint?: unknown };
    if (typeof checkpoint === 'string') return checkpoint;
  } catch {
    // Not JSON.
  }
  // A signed note is its text, an empty line, and the signatures.
  return text.replaceAll('\r\n', '\n').split('\n\n').slice(-2).join('\n\n');
}

/** Line by line: an export may be larger than a text can be. */
async function auditExportIn(file: string): Promise<AuditExport> {
  const audit = new AuditExport();
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) if (line !== '') audit.add(line);
  } catch (error) {
    throw unreadable(file, error);
  }
  return audit;
}

function sourceAt(url: string): LogSource {
  return {
    description: async () => JSON.parse((await fetchBytes(`${url}/.well-known/lodestone/log`)).toString('utf8')),
    checkpoint: async () => (await fetchBytes(`${url}/log/checkpoint`)).toString('utf8'),
    tile: (place) => fetchBytes(`${url}/log/${tilePath(place)}`),
  };
}

const attemptsMax = 100;

/** A large log has more tiles than an address may ask for in a minute. */
async function fetchBytes(url: string): Promise<Buffer> {
  for (let attempt = 1; ; attempt++) {
    const { statusCode, headers, body } = await request(url).catch((error: NodeJS.ErrnoException) => {
      throw new CommandFailure(`No server answers at ${url} (${error.code ?? error.message}).`);
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    if (statusCode === 200) return bytes;
    if (statusCode !== 429 || attempt === attemptsMax) throw new CommandFailure(`${url} answered ${statusCode}.`);
    await pause(1000 * Math.min(60, Number(headers['retry-after'] ?? 1)));
  }
}

/** The key alone goes to standard output, so that it can be written to a file. */
async function printNewKey({ print, positionals }: CommandContext): Promise<void> {
  const origin = required(positionals[0], 'The origin of the log (ORIGIN)');
  if (!isKeyName(origin))
    throw new CommandFailure(`"${origin}" cannot be an origin: it must have no spaces and no plus signs.`);
  const signer = newSigner(origin);
  print({ key: signer.text, verifier_key: signer.verifier.text }, signer.text);
}

interface RotateAnswer {
  verifier_key: string;
  previous: string;
}

async function rotate(context: CommandContext): Promise<void> {
  const answer = await throughServer<RotateAnswer>(context, {
    call: (client) => client.call('POST', '/log/rotate-key'),
    alone: async ({ rotateLogKey }) => {
      const { verifierKey, previous } = await rotateLogKey();
      return { verifier_key: verifierKey, previous };
    },
  });
  const { verifier_key: key, previous } = answer;
  context.print(answer, `The log is signed with a new key:\n${key}\nUntil now it was:\n${previous}`);
}
