/** The log: one JSON object a line, no secret, prompt or answer in it. Callers pass ids and figures, never bodies. */
import { pino } from 'pino';

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Writes to standard error, so that standard output stays for the ready line and command output. Each line has the `common` fields. */
export function createLogger(
  level: string = process.env.LODESTONE_LOG_LEVEL ?? 'info',
  common: Record<string, unknown> | null = null,
): Logger {
  const destination = pino.destination({ dest: 2, sync: false });
  // A log on a full disk loses lines; it must not end the process.
  destination.on('error', () => {});
  return pino({ level, base: common, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** Whether debug lines are kept at all, so that nobody makes them where they are not. */
export function keepsDebug(logger: Logger & { isLevelEnabled?: (level: string) => boolean }): boolean {
  return logger.isLevelEnabled?.('debug') === true;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
