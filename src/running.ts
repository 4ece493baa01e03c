/** What holds for every process that serves: a fault in one request ends no other, a stop drains and settles, and a start that fails says why. */
import { inspect } from 'node:util';
import type { Logger } from './base/logger.js';
import type { Gateway } from './compose.js';

/** Faults of a start that the operator can mend are told in plain words, without a stack. */
const plainFaults = new Set(['ConfigFault', 'CatalogueFault', 'LockHeld', 'WorkerFailed']);

export function startFaultText(error: unknown): string {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (name === 'StoreUnavailable')
    return `${message} ${causeText(error as Error)} Is storage.database_url right, and PostgreSQL running?`;
  if (code === 'EADDRINUSE') return `${message}. Stop what uses it, or set PORT to another one.`;
  return plainFaults.has(name) || code?.startsWith('ERR_PARSE_ARGS_') ? message : inspect(error);
}

/** What the driver or the server has said: a refused connection, a wrong password, a database that is not there. */
function causeText({ cause }: { cause?: unknown }): string {
  const causes = cause instanceof AggregateError ? cause.errors : [cause];
  return `${causes.map((one) => (one instanceof Error ? one.message : String(one))).join('; ')}.`;
}

/** A fault in one request must not take the others with it. What is settled is safe in the journal either way. */
export function keepAlive(logger: Logger): void {
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'an unhandled rejection'));
  process.on('uncaughtException', (error) => logger.error({ err: error }, 'an uncaught exception'));
}

/** Stops what is started, or will be in a moment, and ends the process; called again it does nothing. */
export function stopOnce(starting: Promise<Pick<Gateway, 'stop'>>, logger: Logger): (why: string) => Promise<void> {
  let stopping = false;
  return async (signal) => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping: new work is refused, running answers finish');
    const started = await starting.catch(() => null);
    // A start that failed has closed what it had opened, and whoever began it says why.
    if (!started) return;
    try {
      await started.stop();
      process.exit(0);
    } catch (error) {
      logger.error({ error: String(error) }, 'stopped, but not cleanly; what is not settled waits in the journal');
      process.exit(1);
    }
  };
}
