/** `lodestone doctor` */
import { ConfigFault } from '../../config/config-fault.js';
import { loadConfig } from '../../config/load-config.js';
import { readCatalogue } from '../catalogue-snapshot.js';
import type { Command, CommandContext } from '../command.js';
import { findUrl } from '../connection.js';
import { examine, type Finding } from '../doctor/check.js';
import { type Host, thisHost } from '../doctor/host.js';
import type { Io } from '../io.js';

export const doctorCommands: readonly Command[] = [
  {
    name: 'doctor',
    parameters: '',
    summary:
      'Check this host and the configuration, and say what to do about each fault. It calls no model. Exit code 1 where there is a fault.',
    positionalsMax: 0,
    run: runDoctor,
  },
];

async function runDoctor({ io, json, options, markFailed }: CommandContext): Promise<void> {
  const found = await findingsOf(options.config, io);
  if (json) io.out(JSON.stringify({ object: 'list', data: found }, null, 2));
  else for (const { what, remedy } of found) io.out(`${what}\n  ${remedy}`);
  if (found.length > 0) markFailed();
}

export async function findingsOf(file: string | undefined, io: Io, host: Host = thisHost): Promise<Finding[]> {
  let config: ReturnType<typeof loadConfig>;
  try {
    config = loadConfig({ file, env: io.env, cwd: io.cwd });
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    return error.faults.map((what) => ({ what, remedy: 'Correct the configuration at this place.' }));
  }
  const { snapshot, faults } = await readCatalogue(config, io);
  if (!snapshot) return faults.map((what) => ({ what, remedy: 'Correct the catalogue file at this place.' }));
  const isRunning = await host.isGateway(findUrl({ config: file }, io));
  return examine({ host, config, snapshot, env: io.env, isRunning });
}
