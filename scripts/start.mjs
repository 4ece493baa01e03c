/** `npm start`: prepares the checkout and serves, in this same process, so that signals reach the gateway itself. */
import { prepareOrExplain } from './prepare.mjs';
import { readArguments, usage } from './start-arguments.mjs';

const { serve, help, fault } = readArguments(process.argv.slice(2), process.env);

if (fault) {
  console.error(fault);
  process.exitCode = 2;
} else if (help) {
  console.log(usage);
} else if (await prepareOrExplain()) {
  const { runServer } = await import('../dist/bundle/main.js');
  process.exitCode = await runServer(serve);
} else {
  process.exitCode = 1;
}
