/** `lodestone name …` */
import type { ListOf } from '../admin-client.js';
import { type Command, type CommandContext, required } from '../command.js';
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
    options: {
      fallback: { type: 'string' },
      defaults: { type: 'string' },
      provider: { type: 'string' },
      note: { type: 'string' },
    },
    positionalsMax: 2,
    run: setName,
  },
  { name: 'name delete', parameters: '<name>', summary: 'Delete a name.', positionalsMax: 1, run: deleteName },
];

async function listNames({ client, io, json }: CommandContext): Promise<void> {
  const list = await client().call<ListOf<Name>>('GET', '/names');
  if (json) return io.out(JSON.stringify(list, null, 2));
  const rows = list.data.map(({ name, model, source, note }) => [name, model, source, note]);
  io.out(table(['name', 'model', 'from', 'note'], rows));
}

async function setName({ client, io, json, options, positionals }: CommandContext): Promise<void> {
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
  io.out(json ? JSON.stringify(answer, null, 2) : `${name} is now ${model}.`);
}

async function deleteName({ client, io, json, positionals }: CommandContext): Promise<void> {
  const name = required(positionals[0], 'The name');
  await client().call('DELETE', pathOf(name));
  io.out(json ? JSON.stringify({ deleted: name }, null, 2) : `${name} is deleted.`);
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
