/** `lodestone init` */
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, type CommandContext, flag, text } from '../command.js';
import { fileText } from '../init/file-text.js';
import { knownProviders } from '../init/known-providers.js';
import { type Answers, type Question, questionsFor } from '../init/questions.js';
import { CommandFailure, UsageError } from '../io.js';

export const initCommands: readonly Command[] = [
  {
    name: 'init',
    parameters:
      '[<file>] [--address URL] [--data-dir DIR] [--database-url URL] [--redis-url URL] [--providers IDS] [--yes] [--force]',
    summary:
      'Ask five questions and write a commented configuration (./lodestone.yaml). An option answers its question; --yes, or no terminal, takes the default of the others. A file that exists is kept, except with --force.',
    options: {
      ...{ address: text, 'data-dir': text, 'database-url': text, 'redis-url': text, providers: text },
      ...{ yes: { ...flag, short: 'y' }, force: flag },
    },
    positionalsMax: 1,
    run: writeConfiguration,
  },
];

async function writeConfiguration(context: CommandContext): Promise<void> {
  const { io, positionals, flags, json } = context;
  const shown = positionals[0] ?? 'lodestone.yaml';
  const file = resolve(io.cwd, shown);
  if (existsSync(file) && !flags.has('force'))
    throw new CommandFailure(`${file} exists already. Name another file, or replace it with --force.`);
  const providers = await knownProviders();
  const answers = await collectAnswers(questionsFor([...providers.keys()]), context);
  const written = fileText(answers, providers);
  write(file, written);
  const absent = variablesOf(written).filter((name) => !io.env[name]);
  if (json) return io.out(JSON.stringify({ file, absent_variables: absent }, null, 2));
  io.out(`Wrote ${file}.`);
  if (absent.length > 0) io.out(`Set ${absent.join(', ')}, which it names.`);
  const option = shown === 'lodestone.yaml' ? '' : ` --config ${shown}`;
  io.out(`Check it with "lodestone doctor${option}", and serve with "lodestone serve${option}".`);
}

async function collectAnswers(
  questions: readonly Question[],
  { io, options, flags }: CommandContext,
): Promise<Answers> {
  const answers: Partial<Answers> = {};
  for (const [index, question] of questions.entries()) {
    const given = options[question.option]?.trim();
    const fault = given === undefined ? undefined : question.faultOf(given);
    if (fault !== undefined) throw new UsageError(`--${question.option}: found "${shownOf(given!)}", ${fault}`);
    const title = `${index + 1}/${questions.length} ${question.text} [${question.otherwise}] `;
    answers[question.option] =
      given ??
      (io.ask && !flags.has('yes') ? await askUntilValid(question, title, io.ask, io.err) : question.otherwise);
  }
  return answers as Answers;
}

async function askUntilValid(
  { otherwise, faultOf }: Question,
  title: string,
  ask: (question: string) => Promise<string>,
  complain: (line: string) => void,
): Promise<string> {
  for (;;) {
    const answer = (await ask(title)).trim() || otherwise;
    const fault = faultOf(answer);
    if (fault === undefined) return answer;
    complain(`"${shownOf(answer)}": ${fault}.`);
  }
}

/** Without the password of an address. */
const shownOf = (answer: string): string => answer.replace(/(?<=:\/\/[^:@/]*:)[^@]*(?=@)/, '…');

/** With a password in it, only its owner may read it. */
function write(file: string, text: string): void {
  const hasPassword = /^ {2}(?:database|redis)_url: "[^"]*:\/\/[^"]*:[^"]*@/m.test(text);
  try {
    writeFileSync(file, text, { mode: hasPassword ? 0o600 : 0o644 });
  } catch (error) {
    throw new CommandFailure(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** Those that lines without a comment name. */
function variablesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('#'));
  return [...new Set(lines.flatMap((line) => [...line.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!)))];
}
