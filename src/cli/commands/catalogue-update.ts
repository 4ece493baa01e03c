/** `lodestone catalogue pack`, `update`, `rollback` and `updates`: a newer catalogue without a new release. */
import { writeFileSync } from 'node:fs';
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
import { type Command, type CommandContext, flag, required, text } from '../command.js';
import { agrees, CommandFailure, type Io, readNamed, UsageError } from '../io.js';
import { table } from '../text-table.js';

export const catalogueUpdateCommands: readonly Command[] = [
  {
    name: 'catalogue update',
    parameters: 'FILE|URL [--yes] [--dry-run]',
    summary:
      'Take a newer, signed catalogue into use on every replica. Prints what changes, and asks where prices rise, something goes, gates decide otherwise or requests go elsewhere; --yes agrees.',
    options: { yes: flag, 'dry-run': flag },
    positionalsMax: 1,
    run: updateCatalogue,
  },
  {
    name: 'catalogue rollback',
    parameters: '[VERSION] [--dry-run]',
    summary: 'Take an update of the catalogue back: to VERSION, or to the one before the one in use.',
    options: { 'dry-run': flag },
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
    options: { version: text, key: text, out: { ...text, short: 'o' } },
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

async function updateCatalogue(context: CommandContext): Promise<void> {
  const { client, io, json, print, flags, positionals, markFailed } = context;
  const file = (await readCatalogueFile(required(positionals[0], 'The file or its address (FILE|URL)'), io)).toString(
    'base64',
  );
  const send = (more: object) => client().call<UpdateAnswer>('POST', '/catalogue/updates', { file, ...more });
  const found = await send({ dry_run: true });
  if (!json) io.out(changesText(found));
  const isAgreed =
    flags.has('dry-run') || flags.has('yes') || !found.needs_confirmation || (await agrees(io, question));
  if (!isAgreed) {
    markFailed();
    io.err(`Nothing was changed: ${found.from} stays in use. Repeat it with --yes to agree.`);
    return;
  }
  const answer = flags.has('dry-run') ? found : await send({ confirm: true });
  print(answer, endText(answer));
}

const question = 'Prices rise, something goes, gates decide otherwise, or requests go elsewhere. Apply it?';

async function rollBack({ client, print, flags, positionals }: CommandContext): Promise<void> {
  const body = { ...(positionals[0] && { version: positionals[0] }), dry_run: flags.has('dry-run') };
  const answer = await client().call<UpdateAnswer>('POST', '/catalogue/rollback', body);
  print(answer, `${changesText(answer)}\n${endText(answer)}`);
}

const endText = ({ applied, version }: UpdateAnswer): string =>
  applied ? `${version} is in use.` : 'Nothing was changed (--dry-run).';

async function listUpdates({ client, print }: CommandContext): Promise<void> {
  const answer = await client().call<UpdatesAnswer>('GET', '/catalogue/updates');
  const rows = answer.data.map(({ version, part, applied_at, in_use }) => [
    ...[version, part, applied_at, in_use ? 'in use' : ''],
  ]);
  const builtin = [answer.builtin, 'built in', '', answer.in_use === answer.builtin ? 'in use' : ''];
  const look = answer.last_look ? `\n\nThe last look, ${answer.last_look.at}:\n${answer.last_look.text}` : '';
  print(answer, `${table(['version', 'part', 'applied', ''], [...rows, builtin])}${look}`);
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

async function readCatalogueFile(named: string, io: Io): Promise<Buffer> {
  if (/^https?:\/\//i.test(named) && URL.canParse(named)) {
    return download(named, fileBytesMax, io.env).catch((error) => {
      throw error instanceof DownloadFailed ? new CommandFailure(error.message) : error;
    });
  }
  const bytes = readNamed(named, io);
  if (bytes.length <= fileBytesMax) return bytes;
  throw new CommandFailure(`${named} has ${bytes.length} bytes; a catalogue has at most ${fileBytesMax}.`);
}

async function pack({ io, print, options }: CommandContext): Promise<void> {
  const version = required(options.version, '--version').replace(/^catalogue-/, '');
  const out = resolve(io.cwd, required(options.out, '-o'));
  checkVersion(version);
  const signer = readSignerKey(readNamed(required(options.key, '--key'), io).toString('utf8').trim());
  if (!signer) throw new CommandFailure('--key names a file without a key. "lodestone log new-key NAME" prints one.');
  const update = { version, values: await builtinValues() };
  const faults = await strictFaults(update, { dialects, nowMs: systemClock.now() });
  if (faults.length > 0) throw new CommandFailure(`${faults.join('\n')}\nThe file was not made.`);
  const file = packOrFail(update, signer);
  writeFileSync(out, file);
  const verifierKey = signer.verifier.text;
  print(
    { version, bytes: file.length, verifier_key: verifierKey },
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
