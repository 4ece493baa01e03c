/** `npm start`: prepares the checkout and serves, in this same process, so that signals reach the gateway itself. */
import { prepareOrExplain } from './prepare.mjs';

if (await prepareOrExplain()) {
  const { runServer } = await import('../dist/main.js');
  process.exitCode = await runServer(process.argv.slice(2));
} else {
  process.exitCode = 1;
}
