/** `npm start` runs this first: its own script begins with a word of the Unix shell, which Windows would only call unknown. */
import { platformFault } from '../bin/platform.mjs';

const fault = platformFault();
if (fault) {
  console.error(fault);
  process.exitCode = 1;
}
