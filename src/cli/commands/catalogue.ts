/** `lodestone catalogue …` */

import { resolve } from 'node:path';
import { systemClock } from '../../base/clock.js';
import { silentLogger } from '../../base/logger.js';
import { CatalogueHolder } from '../../catalogue/holder.js';
import { spokenDialects } from '../../upstream/adapters/registry.js';
import { type Command, type CommandContext, CommandFailure } from '../command.js';
import { readConfig } from '../connection.js';

interface Counts {
  models: number;
  routes: number;
  providers: number;
}

export const catalogueCommands: readonly Command[] = [
  {
    name: 'catalogue reload',
    parameters: '',
    summary: 'Make the server read its catalogue files again.',
    positionalsMax: 0,
    run: async (context) =>
      print(context, await context.client().call<Counts>('POST', '/catalogue/reload'), 'Reloaded'),
  },
  {
    name: 'catalogue check',
    parameters: '[<file> …]',
    summary: 'Check catalogue files (those of the configuration, else), without a server.',
    positionalsMax: 100,
    run: checkCatalogue,
  },
];

async function checkCatalogue(context: CommandContext): Promise<void> {
  const { io, positionals, options } = context;
  const config = readConfig(options.config, io);
  const files = positionals.map((file) => (file === 'builtin' ? file : resolve(io.cwd, file)));
  const holder = new CatalogueHolder({
    dialects: spokenDialects,
    files: files.length > 0 ? files : config.catalogue,
    providerSettings: config.providers,
    env: io.env,
    clock: systemClock,
    logger: silentLogger,
  });
  const outcome = await holder.reload();
  if (!outcome.ok) throw new CommandFailure(outcome.faults.join('\n'));
  const { models, routes, providers } = outcome;
  print(context, { models, routes, providers }, 'No faults');
}

function print({ io, json }: CommandContext, counts: Counts, what: string): void {
  const { models, routes, providers } = counts;
  io.out(
    json ? JSON.stringify(counts, null, 2) : `${what}: ${models} models, ${routes} routes, ${providers} providers.`,
  );
}
