/** What holds for every process that serves: a stop drains and settles, also after an error that nobody caught, and a start that fails says why. */
import { inspect } from 'node:util';
import type { Logger } from '../base/logger.js';
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

/** How a process that serves ends. Both end the process. */
export interface Ending {
  /** Refuses new work, lets running answers finish, settles; with `fault` for a short time only and with another exit code than 0. */
  stop(why: string, fault?: boolean): Promise<void>;
  /** At once. What is not settled is written into the journal's file and to standard error. */
  abort(): void;
}

/** Running answers get this long to finish after a fault: what else the fault has broken is not known. */
export const faultDrainMs = 5_000;
/** Then, or where a stop after a fault hangs, the process ends all the same. */
const faultMs = 30_000;

/**
 * An error that nobody caught leaves the process in a state that nobody has thought of, so it takes no more work, settles and
 * ends, and whoever supervises it starts another. A second one while it stops ends it at once. `ending` is null while nothing
 * is started.
 */
export function endOnFault(logger: Logger, ending: () => Ending | null): void {
  let isStopping = false;
  const onFault = (error: unknown, what: string) => {
    logger.error({ err: error }, `${what}; this process stops, so that another takes its place`);
    const current = ending();
    if (!current) process.exit(1);
    if (isStopping) return current.abort();
    isStopping = true;
    setTimeout(() => current.abort(), faultMs);
    void current.stop(what, true);
  };
  process.on('unhandledRejection', (error) => onFault(error, 'an unhandled rejection'));
  process.on('uncaughtException', (error) => onFault(error, 'an uncaught exception'));
  // Where nobody reads what is printed, or the disk under it is full, serving goes on without it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

type Stoppable = Pick<Gateway, 'stop' | 'reportUnsettled'>;

/** Stops what is started, or will be in a moment, and ends the process; stopped again it does nothing. */
export function endingOf(starting: Promise<Stoppable>, logger: Logger): Ending {
  let stopping = false;
  let exitCode = 0;
  let started: Stoppable | null = null;
  const known = starting.then(
    (gateway) => {
      started = gateway;
      return gateway;
    },
    () => null,
  );
  return {
    async stop(why, fault = false) {
      if (fault) exitCode = 1;
      if (stopping) return;
      stopping = true;
      logger.info({ signal: why }, 'stopping: new work is refused, running answers finish');
      const gateway = await known;
      // A start that failed has closed what it had opened, and whoever began it says why.
      if (!gateway) return;
      try {
        await gateway.stop(fault ? faultDrainMs : undefined);
      } catch (error) {
        logger.error({ error: String(error) }, 'stopped, but not cleanly; what is not settled waits in the journal');
        exitCode = 1;
      }
      process.exit(exitCode);
    },
    abort() {
      try {
        started?.reportUnsettled();
      } catch (error) {
        logger.error({ error: String(error) }, 'what is not settled cannot be reported');
      }
      process.exit(1);
    },
  };
}
