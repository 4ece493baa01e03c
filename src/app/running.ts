/** How a process that serves ends: it drains and settles, also after an uncaught error. A start that fails says why. */
import { inspect } from 'node:util';
import type { Logger } from '../base/logger.js';
import { writeRemedy } from '../base/private-directory.js';
import type { Gateway } from './gateway.js';

/** Faults that the operator can repair. They are printed without a stack. */
const plainFaults = new Set(['ConfigFault', 'CatalogueFault', 'LockHeld', 'UnwritableDirectory', 'WorkerFailed']);
const diskFaults = new Set(['EROFS', 'ENOSPC', 'EDQUOT']);

export function startFaultText(error: unknown): string {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (name === 'StoreUnavailable')
    return `${message} ${causeText(error as Error)} Is storage.database_url right, and PostgreSQL running?`;
  if (code === 'EADDRINUSE') return `${message}. Stop what uses it, or set PORT to another one.`;
  if (code !== undefined && diskFaults.has(code)) return `${message}. ${writeRemedy(code)}`;
  return plainFaults.has(name) || code?.startsWith('ERR_PARSE_ARGS_') ? message : inspect(error);
}

/** The message of the driver or the server: a refused connection, a wrong password, a missing database. */
function causeText({ cause }: { cause?: unknown }): string {
  const causes = cause instanceof AggregateError ? cause.errors : [cause];
  return `${causes.map((one) => (one instanceof Error ? one.message : String(one))).join('; ')}.`;
}

/** Both methods end the process. */
export interface Ending {
  /** Refuses new work, lets running answers finish and settles. After a `fault` the time is short and the exit code is 1. Never rejects. */
  stop(why: string, fault?: boolean): Promise<void>;
  /** Ends at once. Unsettled records are written into the journal's file and to standard error. */
  abort(): void;
}

/** How long running answers may take after a fault. It is short, because nobody knows what else is broken. */
const faultDrainMs = 5_000;
/** The process ends after this time even if the stop hangs. */
const faultMs = 30_000;

/**
 * After an uncaught error the state of the process is unknown, so it takes no more work, settles and ends, and its supervisor starts
 * another. A second error while it stops ends it at once. `ending` is null before the start.
 */
export function endOnFault(logger: Logger, ending: () => Ending | null): void {
  let isStopping = false;
  const onFault = (error: unknown, what: string) => {
    logger.error({ err: error }, `${what}; this process stops, so that another can take its place`);
    const current = ending();
    if (!current) process.exit(1);
    if (isStopping) return current.abort();
    isStopping = true;
    setTimeout(() => current.abort(), faultMs);
    void current.stop(what, true);
  };
  process.on('unhandledRejection', (error) => onFault(error, 'an unhandled rejection'));
  process.on('uncaughtException', (error) => onFault(error, 'an uncaught exception'));
  // A closed pipe or a full disk behind the output must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

type Stoppable = Pick<Gateway, 'stop' | 'reportUnsettled'>;

/** Stops the gateway, also while it starts, and ends the process. A second stop does nothing. */
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
      // A start that failed has closed its parts, and its caller reports the reason.
      if (!gateway) return;
      try {
        await gateway.stop(fault ? faultDrainMs : undefined);
      } catch (error) {
        logger.error({ error: String(error) }, 'stopped, but not cleanly; unsettled records wait in the journal');
        exitCode = 1;
      }
      process.exit(exitCode);
    },
    abort() {
      try {
        started?.reportUnsettled();
      } catch (error) {
        logger.error({ error: String(error) }, 'unsettled records cannot be reported');
      }
      process.exit(1);
    },
  };
}
