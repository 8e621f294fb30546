import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The order of test files. All projects share the workers, so that no core is idle at a project's end. A project's files follow
 * each other, because a worker is warm for its project's next file.
 */
const projects = ['infra', 'browser', 'e2e', 'e2e campaigns', 'unit campaigns', 'unit'];

/** Slow files, and files that wait for slow things. They start first, so that only short ones are left at the end. */
const long =
  /(Deaths|regions|rights|bundle|migrate|messages|accountStates|fuzz|runs|growth|stage|waitRaces|resume|capacity|outage|size|silence|nameResolver)(\.campaign)?\.test\.ts$/;

const placeOf = ({ project, moduleId }: TestSpecification): number =>
  2 * projects.indexOf(project.name) + (long.test(moduleId) ? 0 : 1);

/** Otherwise Vitest's order: files that took longest last time, or the largest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other));
  }
}
