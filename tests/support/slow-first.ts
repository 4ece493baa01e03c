/** The order of the test files: by size, as vitest has it, but those that take longest first, so that none of them runs alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** By how long they take; most of it they wait. Their size says little about it. */
const slow = [
  'tests/faults/slow-history',
  'tests/faults/store-away',
  'tests/api/start',
  'tests/observability/traces',
  'tests/faults/hostile-bodies',
  'tests/faults/left-streams',
  'tests/faults/disk-full',
  'tests/api/chat/500',
  'tests/api/payments/fleet',
  'tests/api/stop',
  'tests/observability/workers',
  'tests/cluster/workers',
  'tests/cluster/redis-cluster',
  'tests/cluster/postgres-away',
  'tests/cluster/redis-away',
  'tests/cluster/upgrade',
  'tests/cluster/sealers',
  'tests/cluster/drain-cut',
  'tests/cluster/replica-killed',
  'tests/speed/request-cost',
  'tests/browser/links',
  'src/cluster/redis/link',
  'src/cluster/redis/cluster-link',
  'src/storage/embedded/embedded',
  'src/storage/records/records',
  'src/sealing/sealer-lock',
  'src/app/catalogue-recorder',
].map((name) => `/${name}.test.ts`);

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const inOrder = await super.sort(files);
    // A process serves the files of one project, so those stay together.
    const projects = [...new Set(inOrder.map(({ project }) => project.name))];
    return projects.flatMap((name) => {
      const own = inOrder.filter(({ project }) => project.name === name);
      return [...own.filter(isSlow), ...own.filter((file) => !isSlow(file))];
    });
  }
}

function isSlow({ moduleId }: TestSpecification): boolean {
  return slow.some((name) => moduleId.endsWith(name));
}
