/** The order of the test files: by size, as vitest has it, but those that take longest first, so that none of them runs alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { slowFiles } from './slow-files.js';

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
  return slowFiles.some((name) => moduleId.endsWith(`/${name}`));
}
