/** Spending at one process; two replicas do the same in replica-killed.test.ts. With LODESTONE_FULL=1 the suite has its full counts. */
import { SpendRig } from './spend-rig.js';
import { spendSuite } from './spend-suite.js';

spendSuite('one process', () => SpendRig.ofOneProcess());
