/** `lodestone journal …`: looks into the files of the settlement journal. */
import { journalLines } from '../../journal/show.js';
import { type Command, type CommandContext, required } from '../command.js';
import { CommandFailure } from '../io.js';

export const journalCommands: readonly Command[] = [
  {
    name: 'journal show',
    parameters: 'FILE|DIR',
    summary:
      'Print the records of a journal file, or of all files of a folder, as lines of JSON. Exit code 1 where one is damaged.',
    positionalsMax: 1,
    run: showJournal,
  },
];

async function showJournal({ io, positionals, markFailed }: CommandContext): Promise<void> {
  const place = required(positionals[0], 'the file or folder of a journal');
  try {
    for (const { line, isDamaged } of journalLines(place)) {
      io.out(line);
      if (isDamaged) markFailed();
    }
  } catch (error) {
    throw new CommandFailure(`${place.slice(0, 200)} cannot be read: ${(error as Error).message}`);
  }
}
