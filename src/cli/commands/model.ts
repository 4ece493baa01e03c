/** `lodestone model …` */
import { type Command, type CommandContext, required, text } from '../command.js';
import { UsageError } from '../io.js';

const options = { reason: text };

export const modelCommands: readonly Command[] = [
  command('disable', 'Refuse a model as if it did not exist (404 model_not_found).', 'disabled'),
  command('soft-disable', 'Mark a model unavailable, with a reason (503 model_unavailable).', 'soft_disabled'),
  command('enable', 'Serve a model again.', 'available'),
];

function command(verb: string, summary: string, state: string): Command {
  return {
    name: `model ${verb}`,
    parameters: '<creator/model> [--reason TEXT]',
    summary,
    options,
    positionalsMax: 1,
    run: (context) => setAvailability(context, state),
  };
}

async function setAvailability({ client, print, options, positionals }: CommandContext, state: string): Promise<void> {
  const segments = required(positionals[0], 'The model (creator/model)').split('/');
  const [creator, model] = segments;
  if (segments.length !== 2 || !creator || !model) {
    throw new UsageError(`"${positionals[0]}" is not of the form creator/model`);
  }
  const path = `/models/${encodeURIComponent(creator)}/${encodeURIComponent(model)}/availability`;
  const answer = await client().call('PUT', path, { state, ...(options.reason && { reason: options.reason }) });
  print(answer, `${creator}/${model} is now ${state}.`);
}
