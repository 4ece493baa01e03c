/** Why a process does not seal, and what its operator can do about it. */
import type { LogStatus } from '../storage/log-types.js';

export const sealerFaults = [
  'key_missing',
  'key_invalid',
  'key_other',
  'origin_other',
  'store_behind',
  'forked',
  'row_bad',
] as const;
export type SealerFault = (typeof sealerFaults)[number];
/** The others stop a process; a bad row is only set aside. */
export type StoppingFault = Exclude<SealerFault, 'row_bad'>;

export class SealingStopped extends Error {
  constructor(readonly reason: StoppingFault) {
    super(`the log of receipts is not sealed: ${reason}`);
    this.name = 'SealingStopped';
  }
}

interface FaultContext {
  readonly origin: string;
  readonly keyFile: { readonly path: string };
  readonly status: LogStatus | null;
}

export function faultText(reason: StoppingFault, { origin, keyFile: { path }, status }: FaultContext): string {
  const stopped = 'No receipts are sealed by this process, requests are served';
  const current = status?.keys.at(-1)?.verifierKey ?? 'none';
  const texts: Record<StoppingFault, string> = {
    key_missing: `${stopped}: the key file ${path} is missing. Put the key of the log back; another one is never made for it`,
    key_invalid: `${stopped}: the key file ${path} cannot be read as a signing key`,
    key_other: `${stopped}: the key in ${path} is not the one of the log, which is ${current}. Use the same key file for every process`,
    origin_other: `${stopped}: the log has the origin ${status?.origin ?? 'of its key'}, and this process ${origin}. Set proof.origin to the origin of the log`,
    store_behind: `${stopped}: the database has fewer receipts than were published. It was restored from a backup; restore a newer one`,
    forked: `${stopped}: the receipts in the database are not those that were published. It was restored or changed; restore the right one`,
  };
  return texts[reason];
}
