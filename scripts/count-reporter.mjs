/**
 * A vitest reporter that writes what was counted to the file of LODESTONE_TEST_COUNT. A file that cannot be loaded is a failure, and
 * a test that passed only when it was repeated is named, and so is every file with skipped tests.
 */
import { writeFileSync } from 'node:fs';

export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: [], repeated: [] };
    for (const module of modules) {
      let failedTests = 0;
      let skippedTests = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (test.diagnostic()?.flaky) count.repeated.push(`${module.relativeModuleId}: ${test.fullName}`);
        if (state === 'passed') count.passed++;
        else if (state === 'failed') failedTests++;
        else skippedTests++;
      }
      if (skippedTests > 0) count.skipped.push({ file: module.relativeModuleId, tests: skippedTests });
      count.failed += failedTests === 0 && module.state() === 'failed' ? 1 : failedTests;
    }
    writeFileSync(process.env.LODESTONE_TEST_COUNT, JSON.stringify(count));
  }
}
