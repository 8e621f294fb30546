import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The order in which files start. All projects share the workers, so that no core is idle while one project ends. Files of a project
 * follow each other, because a worker serves one project, and is warm for its next file.
 */
const projects = ['infra', 'browser', 'e2e', 'e2e campaigns', 'unit campaigns', 'unit'];

/** Files that take long, or wait for what takes long. They start first in their project: the last ones to end are short. */
const long =
  /(Deaths|cfnLint|regions|rights|bundle|migrate|messages|accountStates|fuzz|runs|growth|stage|firedStarts|waitRaces|resume|capacity|outage|size|silence|nameResolver)(\.campaign)?\.test\.ts$/;

const placeOf = ({ project, moduleId }: TestSpecification): number =>
  2 * projects.indexOf(project.name) + (long.test(moduleId) ? 0 : 1);

/** Within the order above, Vitest's own: the files that took longest last time, or the largest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((one, other) => placeOf(one) - placeOf(other));
  }
}
