/**
 * The log: one JSON object in each line, without secrets, prompts or answers. Callers pass ids and figures, never bodies.
 */
import { pino } from 'pino';

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * Writes to standard error, so that standard output has only the ready line and command output. Each line has the `common`
 * fields.
 */
export function createLogger(
  level: string = process.env.LODESTONE_LOG_LEVEL ?? 'info',
  common: Record<string, unknown> | null = null,
): Logger {
  const destination = pino.destination({ dest: 2, sync: false });
  // A log on a full disk loses lines; it must not end the process.
  destination.on('error', () => {});
  return pino({ level, base: common, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** Whether debug lines are logged at all, so that callers can skip making them. */
export function keepsDebug(logger: Logger & { isLevelEnabled?: (level: string) => boolean }): boolean {
  return logger.isLevelEnabled?.('debug') === true;
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
