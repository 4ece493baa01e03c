/** `lodestone catalogue import-models`: drafts of entries for models that public lists have and the catalogue does not. */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, type CommandContext, text } from '../command.js';
import { CommandFailure } from '../io.js';
import { draftsOf } from '../price-lists/draft.js';
import { missingModels } from '../price-lists/match.js';
import { isOfProvider, readComparison } from './catalogue-compare.js';

export const importCommand: Command = {
  name: 'catalogue import-models',
  parameters: '--with <list>[@<date>] [<list>[@<date>] …] [--provider P] [--out FILE]',
  summary:
    'Draft catalogue entries for the models that public lists have at a provider of the catalogue and the catalogue does not. Each figure names its list and date, and each entry is a `draft`, which catalogue check accepts and --strict names until a person has verified it and taken the word out. Writes a new file, or prints. Needs no server.',
  options: { with: { ...text, multiple: true }, provider: text, out: text },
  positionalsMax: 10,
  run: importModels,
};

async function importModels(context: CommandContext): Promise<void> {
  const { io, print, options } = context;
  const { lists, snapshot } = await readComparison(context);
  const isAsked = isOfProvider(options.provider, snapshot);
  const missing = missingModels(snapshot, lists).filter(({ provider }) => isAsked(provider));
  const { text: drafts, ...counts } = draftsOf(missing, snapshot);
  if (options.out === undefined) {
    print({ ...counts, text: drafts }, drafts.trimEnd());
    return;
  }
  const file = resolve(io.cwd, options.out);
  // A file may hold drafts that somebody has begun to verify.
  await writeFile(file, drafts, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    const advice = error.code === 'EEXIST' ? 'it is there already; name a new file' : (error.code ?? error.message);
    throw new CommandFailure(`${file} cannot be written (${advice}).`);
  });
  print(
    { ...counts, file },
    `Wrote ${counts.routes} routes as drafts, with ${counts.models} new models, to ${file}. Verify each figure, and take \`draft\` out; "lodestone catalogue check ${options.out} --strict" names what is left.`,
  );
}
