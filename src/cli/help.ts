/** The help texts, made from the list of commands. */
import type { Command } from './command.js';

const serveLine: Line = { left: 'serve [--config FILE]', summary: 'Run the gateway. "lodestone" alone does the same.' };

const settleLine: Line = {
  left: 'settle [--config FILE]',
  summary:
    'Settle the journals of the data directory. "serve" runs it by itself; by hand it is for journals that were left.',
};

const globalOptions = `Options of every command:
  --url URL           The server (else LODESTONE_URL, else host and port of the configuration, else http://127.0.0.1:8787)
  --admin-token-file FILE, --admin-token-stdin
                      The admin token (else LODESTONE_ADMIN_TOKEN, else admin_token of the configuration, else data_dir/admin-token).
                      --admin-token TOKEN works too, but other users of this machine can see it
  --config FILE       The configuration (else LODESTONE_CONFIG, else ./lodestone.yaml)
  --json              Print JSON
  -h, --help          Show this help
  -v, --version       Show the version`;

export function helpText(commands: readonly Command[]): string {
  return `Usage: lodestone [<command>]\n\nCommands:\n${linesOf([serveLine, settleLine, ...commands.map(lineOf)])}\n\n${globalOptions}`;
}

/** The help for the commands that start with the same word. */
export function groupHelp(commands: readonly Command[]): string {
  return `Commands:\n${linesOf(commands.map(lineOf))}\n\n${globalOptions}`;
}

export const serveHelp = `Usage: lodestone ${serveLine.left}

${serveLine.summary} Without --config it reads the file that LODESTONE_CONFIG names, else ./lodestone.yaml if it exists. HOST and PORT win over the file.`;

export const settleHelp = `Usage: lodestone ${settleLine.left}

${settleLine.summary} It works until SIGTERM or SIGINT, and ends with words where another settler works on the directory.`;

export function commandHelp(command: Command): string {
  return `Usage: lodestone ${synopsis(command)}\n\n${command.summary}\n\n${globalOptions}`;
}

interface Line {
  left: string;
  summary: string;
}

function lineOf(command: Command): Line {
  return { left: synopsis(command), summary: command.summary };
}

function linesOf(lines: readonly Line[]): string {
  return lines.map(({ left, summary }) => `  ${left}\n      ${summary}`).join('\n');
}

function synopsis({ name, parameters }: Command): string {
  return `${name} ${parameters}`.trimEnd();
}
