/** `lodestone catalogue pack`, `update`, `rollback` and `updates`: a newer catalogue without a new release. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock } from '../../base/time.js';
import { builtinValues, builtinVersion } from '../../catalogue/builtin.js';
import { dayMs } from '../../catalogue/dates.js';
import { type Effect, effects } from '../../catalogue/effects.js';
import { strictFaults } from '../../catalogue/strict-check.js';
import { UpdateRefused, versionDayMs } from '../../catalogue/update.js';
import { readSignerKey } from '../../proof/note.js';
import { fileBytesMax, packCatalogue } from '../../proof/signed-catalogue.js';
import { dialects } from '../../providers/dialects/registry.js';
import { DownloadFailed, download } from '../../providers/transport/download.js';
import { type Command, type CommandContext, required } from '../command.js';
import { CommandFailure, type Io, UsageError, unreadable } from '../io.js';
import { table } from '../text-table.js';

export const catalogueUpdateCommands: readonly Command[] = [
  {
    name: 'catalogue update',
    parameters: 'FILE|URL [--yes] [--dry-run]',
    summary:
      'Take a newer, signed catalogue into use on every replica. Prints what changes, and asks where prices rise, something goes, gates decide otherwise or requests go elsewhere; --yes agrees.',
    options: { yes: { type: 'boolean' }, 'dry-run': { type: 'boolean' } },
    positionalsMax: 1,
    run: updateCatalogue,
  },
  {
    name: 'catalogue rollback',
    parameters: '[VERSION] [--dry-run]',
    summary: 'Take an update of the catalogue back: to VERSION, or to the one before the one in use.',
    options: { 'dry-run': { type: 'boolean' } },
    positionalsMax: 1,
    run: rollBack,
  },
  {
    name: 'catalogue updates',
    parameters: '',
    summary: 'List the updates that are kept, the one in use, and what the last daily look has found.',
    positionalsMax: 0,
    run: listUpdates,
  },
  {
    name: 'catalogue pack',
    parameters: '--version 2026.11.18 --key FILE -o FILE',
    summary:
      'For maintainers: make a signed file of the built-in catalogue. "lodestone log new-key NAME" prints a key for --key. Needs no server.',
    options: { version: { type: 'string' }, key: { type: 'string' }, out: { type: 'string', short: 'o' } },
    positionalsMax: 0,
    run: pack,
  },
];

interface ChangeRow {
  effect: Effect;
  id: string;
  field: string;
  from: unknown;
  to: unknown;
}

interface UpdateAnswer {
  version: string;
  from: string;
  applied: boolean;
  needs_confirmation: boolean;
  changes: ChangeRow[];
}

interface UpdatesAnswer {
  in_use: string;
  builtin: string;
  last_look: { at: string; text: string } | null;
  data: { version: string; part: string; applied_at: string; in_use: boolean }[];
}

async function updateCatalogue({ client, io, json, flags, positionals, markFailed }: CommandContext): Promise<void> {
  const file = (await readNamed(required(positionals[0], 'The file or its address (FILE|URL)'), io)).toString('base64');
  const send = (more: object) => client().call<UpdateAnswer>('POST', '/catalogue/updates', { file, ...more });
  const found = await send({ dry_run: true });
  if (!json) io.out(changesText(found));
  const isAgreed = flags.has('dry-run') || flags.has('yes') || !found.needs_confirmation || (await agrees(io));
  if (!isAgreed) {
    markFailed();
    io.err(`Nothing was changed: ${found.from} stays in use. Repeat it with --yes to agree.`);
    return;
  }
  const answer = flags.has('dry-run') ? found : await send({ confirm: true });
  if (json) io.out(JSON.stringify(answer, null, 2));
  else io.out(answer.applied ? `${answer.version} is in use.` : 'Nothing was changed (--dry-run).');
}

async function agrees(io: Io): Promise<boolean> {
  const answer = await io.ask?.(
    'Prices rise, something goes, gates decide otherwise, or requests go elsewhere. Apply it? [y/N] ',
  );
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

async function rollBack({ client, io, json, flags, positionals }: CommandContext): Promise<void> {
  const body = { ...(positionals[0] && { version: positionals[0] }), dry_run: flags.has('dry-run') };
  const answer = await client().call<UpdateAnswer>('POST', '/catalogue/rollback', body);
  if (json) return io.out(JSON.stringify(answer, null, 2));
  io.out(changesText(answer));
  io.out(answer.applied ? `${answer.version} is in use.` : 'Nothing was changed (--dry-run).');
}

async function listUpdates({ client, io, json }: CommandContext): Promise<void> {
  const answer = await client().call<UpdatesAnswer>('GET', '/catalogue/updates');
  if (json) return io.out(JSON.stringify(answer, null, 2));
  const rows = answer.data.map(({ version, part, applied_at, in_use }) => [
    ...[version, part, applied_at, in_use ? 'in use' : ''],
  ]);
  const builtin = [answer.builtin, 'built in', '', answer.in_use === answer.builtin ? 'in use' : ''];
  io.out(table(['version', 'part', 'applied', ''], [...rows, builtin]));
  if (answer.last_look) io.out(`\nThe last look, ${answer.last_look.at}:\n${answer.last_look.text}`);
}

const words: Record<Effect, string> = {
  ...{ new: 'new', gone: 'gone', price_up: 'price up', price_down: 'price down' },
  ...{ address: 'address', law: 'law', policy: 'policy', other: 'other' },
};

function changesText({ version, from, changes }: UpdateAnswer): string {
  const shown = (value: unknown) => (value === null ? 'none' : String(value));
  const groups = effects.map((effect) => changes.filter((change) => change.effect === effect));
  const lines = groups.flat().map(({ effect, id, field, from: before, to }) => {
    const what = field === 'id' ? id : `${id} ${field}: ${shown(before)} → ${shown(to)}`;
    // Control characters are replaced, so that the text of a file cannot move the cursor.
    return `${words[effect].padEnd(11)}${what.replace(/\p{Cc}/gu, '\ufffd')}`;
  });
  const counts = groups.flatMap((group) => (group[0] ? [`${group.length} ${words[group[0].effect]}`] : []));
  return [...lines, `${from} → ${version}: ${counts.join(', ') || 'no change'}.`].join('\n');
}

async function readNamed(named: string, io: Io): Promise<Buffer> {
  try {
    if (/^https?:\/\//i.test(named) && URL.canParse(named)) return await download(named, fileBytesMax, io.env);
    const bytes = readFileSync(resolve(io.cwd, named));
    if (bytes.length <= fileBytesMax) return bytes;
    throw new CommandFailure(`${named} has ${bytes.length} bytes; a catalogue has at most ${fileBytesMax}.`);
  } catch (error) {
    if (error instanceof DownloadFailed) throw new CommandFailure(error.message);
    if (error instanceof CommandFailure) throw error;
    throw unreadable(named, error);
  }
}

async function pack({ io, json, options }: CommandContext): Promise<void> {
  const version = required(options.version, '--version').replace(/^catalogue-/, '');
  const out = resolve(io.cwd, required(options.out, '-o'));
  checkVersion(version);
  const signer = readSignerKey((await readNamed(required(options.key, '--key'), io)).toString('utf8').trim());
  if (!signer) throw new CommandFailure('--key names a file without a key. "lodestone log new-key NAME" prints one.');
  const update = { version, values: await builtinValues() };
  const faults = await strictFaults(update, { dialects, nowMs: systemClock.now() });
  if (faults.length > 0) throw new CommandFailure(`${faults.join('\n')}\nThe file was not made.`);
  const file = packOrFail(update, signer);
  writeFileSync(out, file);
  const verifierKey = signer.verifier.text;
  if (json) return io.out(JSON.stringify({ version, bytes: file.length, verifier_key: verifierKey }, null, 2));
  io.out(
    `${out}: the catalogue ${version}, ${file.length} bytes.\nGateways check it with catalogue_updates.key:\n${verifierKey}`,
  );
}

function packOrFail(...packed: Parameters<typeof packCatalogue>): Buffer {
  try {
    return packCatalogue(...packed);
  } catch (error) {
    throw error instanceof UpdateRefused ? new CommandFailure(error.message) : error;
  }
}

/** A version in the future would hide all those until then. */
function checkVersion(version: string): void {
  const dayOf = versionDayMs(version);
  if (dayOf === undefined)
    throw new UsageError(`--version is "${version}", but must be a day such as 2026.11.18, or 2026.11.18.2.`);
  if (dayOf > systemClock.now() + dayMs) throw new UsageError(`--version is ${version}, which is in the future.`);
  if (version < builtinVersion)
    throw new UsageError(`--version is ${version}, but the built-in catalogue is of ${builtinVersion}.`);
}
