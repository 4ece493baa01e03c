/** `lodestone name …` */
import type { ListOf } from '../admin-client.js';
import { type Command, type CommandContext, required, text } from '../command.js';
import { UsageError } from '../io.js';
import { table } from '../text-table.js';

interface Name {
  name: string;
  model: string;
  source: string;
  note: string | null;
}

export const nameCommands: readonly Command[] = [
  { name: 'name list', parameters: '', summary: 'List the names of models.', positionalsMax: 0, run: listNames },
  {
    name: 'name set',
    parameters: '<name> <model id> [--fallback ID,…] [--defaults JSON] [--provider JSON] [--note TEXT]',
    summary: 'Give a model a name of your own, or change what the name stands for.',
    options: { fallback: text, defaults: text, provider: text, note: text },
    positionalsMax: 2,
    run: setName,
  },
  { name: 'name delete', parameters: '<name>', summary: 'Delete a name.', positionalsMax: 1, run: deleteName },
];

async function listNames({ client, print }: CommandContext): Promise<void> {
  const list = await client().call<ListOf<Name>>('GET', '/names');
  const rows = list.data.map(({ name, model, source, note }) => [name, model, source, note]);
  print(list, table(['name', 'model', 'from', 'note'], rows));
}

async function setName({ client, print, options, positionals }: CommandContext): Promise<void> {
  const name = required(positionals[0], 'The name');
  const model = required(positionals[1], 'The model id');
  const { fallback, note } = options;
  const answer = await client().call('PUT', pathOf(name), {
    model,
    ...(fallback && { fallback: { models: fallback.split(',') } }),
    ...(options.defaults && { defaults: objectIn(options.defaults, 'defaults') }),
    ...(options.provider && { provider: objectIn(options.provider, 'provider') }),
    ...(note && { note }),
  });
  print(answer, `${name} is now ${model}.`);
}

async function deleteName({ client, print, positionals }: CommandContext): Promise<void> {
  const name = required(positionals[0], 'The name');
  await client().call('DELETE', pathOf(name));
  print({ deleted: name }, `${name} is deleted.`);
}

function pathOf(name: string): string {
  return `/names/${encodeURIComponent(name)}`;
}

function objectIn(text: string, option: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(
      `--${option} is "${text.slice(0, 100)}", but must be a JSON object such as {"temperature": 0.2}.`,
    );
  }
}
