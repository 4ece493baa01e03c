/** What settling a record costs, with the build of this checkout; bench/backlog.mjs measures it beside others. */
import { fileURLToPath } from 'node:url';

/** Records of a backlog a round, on a store of its own each time. */
export async function measureSettling(rig) {
  // It imports the compiled gateway, which is not there before a build.
  const { measureBacklog } = await import('./backlog.mjs');
  const root = fileURLToPath(new URL('..', import.meta.url));
  const figures = [];
  for (let round = 0; round < Math.min(rig.rounds, 3); round++) {
    const { node, postgres } = await measureBacklog({ root, records: Math.round(100_000 * rig.scale) });
    figures.push(node + postgres);
  }
  return figures;
}
