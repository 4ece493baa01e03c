/** Reads the arguments of `npm start`, before anything is installed or built: a wrong one should not cost a minute first. */
import { resolve } from 'node:path';

export const usage = `Usage: npm start -- [--config FILE]

Installs what is missing, builds what is stale, and runs the gateway. Without --config: the file of LODESTONE_CONFIG, else
./lodestone.yaml if it is there. HOST and PORT win over it. Other commands: npx lodestone help`;

/**
 * `serve`: the arguments for the gateway. `help`: the caller asks for the usage. `fault`: one line about what is wrong.
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 */
export function readArguments(argv, env) {
  const underNpm = env.npm_lifecycle_event === 'start';
  // Without "--", npm takes the option for one of its own and passes on the file at most.
  if (underNpm && env.npm_config_config !== undefined) {
    const file = env.npm_config_config === 'true' ? (argv[0] ?? 'FILE') : env.npm_config_config;
    return { fault: `npm keeps options for itself unless they follow "--". Run: npm start -- --config ${file}` };
  }
  let file;
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index];
    if (argument === '--help' || argument === '-h') return { help: true };
    if (argument === 'serve') continue;
    if (argument !== '--config' && !argument.startsWith('--config=')) return { fault: faultOf(argument) };
    file = argument === '--config' ? argv[++index] : argument.slice('--config='.length);
    if (!file || file.startsWith('--')) return { fault: '--config needs a file: npm start -- --config FILE' };
  }
  // npm runs the script in the root of the checkout; a path is meant from where the caller stands.
  const standing = (underNpm && env.INIT_CWD) || process.cwd();
  return { serve: file === undefined ? [] : ['--config', resolve(standing, file)] };
}

function faultOf(argument) {
  if (argument.startsWith('-')) return `npm start has no option "${argument}". It takes --config FILE only.`;
  return `npm start does not take "${argument}". For a configuration file run: npm start -- --config ${argument}`;
}
