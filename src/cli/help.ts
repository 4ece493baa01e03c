/** What `lodestone help` prints, made from the list of commands. */
import type { Command } from './command.js';

const serveLine = { left: 'serve [--config FILE]', summary: 'Run the gateway.' };

const globalOptions = `Options of every command:
  --url URL           The server (else LODESTONE_URL, else host and port of the configuration, else http://127.0.0.1:8787)
  --admin-token TOKEN (else LODESTONE_ADMIN_TOKEN, else admin_token of the configuration, else data_dir/admin-token)
  --config FILE       The configuration (else LODESTONE_CONFIG, else ./lodestone.yaml)
  --json              Print the API's JSON
  -h, --help          Show this help
  -v, --version       Show the version`;

export function helpText(commands: readonly Command[]): string {
  const lines = [serveLine, ...commands.map((command) => ({ left: synopsis(command), summary: command.summary }))];
  return `Usage: lodestone <command>\n\nCommands:\n${lines.map(({ left, summary }) => `  ${left}\n      ${summary}`).join('\n')}\n\n${globalOptions}`;
}

export function commandHelp(command: Command): string {
  return `Usage: lodestone ${synopsis(command)}\n\n${command.summary}\n\n${globalOptions}`;
}

function synopsis({ name, parameters }: Command): string {
  return `${name} ${parameters}`.trimEnd();
}
