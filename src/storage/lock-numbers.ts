/**
 * The advisory locks of the database, in one place, so that no two purposes share a number: one would wait for the other. The numbers are
 * arbitrary, and stay as they are, because processes of two versions may run beside each other. Migrations name 7316402286, 7316402289 and
 * 7316402295.
 */
export const lockNumbers = {
  migrations: 7_316_402_285,
  /** Held by every running process, shared. */
  presence: 7_316_402_286,
  migrationsOutsideTransactions: 7_316_402_287,
  partitions: 7_316_402_288,
  sealing: 7_316_402_290,
  catalogueLoads: 7_316_402_291,
  oldGenerations: 7_316_402_296,
} as const;
