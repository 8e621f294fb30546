import { dirname, join } from 'node:path';
import { mkdtemp } from 'node:fs/promises';
import { inject } from 'vitest';
import { withAccount } from './service.ts';
import { startStage, type Stage } from './stage.ts';

/** The stage has this region even if tests run against a deployment in another one. */
const region = 'eu-central-1';

let started: Promise<Stage> | undefined;

/**
 * A stage whose clock tests advance, with a new account. A worker starts one for all its files, which run one after the other,
 * so each file has the clock to itself. The clock may be far ahead of this machine's, and files delete their schedules. The
 * stage ends with its worker, and its data with the bundle.
 */
export async function clockStage(): Promise<Stage> {
  started ??= mkdtemp(join(dirname(inject('bundledStage')), 'data-')).then((dataDir) =>
    startStage({ dataDir, testControl: true, args: ['--region', region] }),
  );
  const stage = await started;
  return withAccount({ ...stage, region });
}
