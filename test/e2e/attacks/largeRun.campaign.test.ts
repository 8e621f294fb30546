import { afterAll, beforeAll, expect, it } from 'vitest';
import { measureBesideRun } from '../../../bench/machine/besideRun.ts';
import { limitForManyDeathsMs } from '../../support/limits.ts';
import { service } from '../../support/publish.ts';
import { startStage, type Stage } from '../../support/stage.ts';

/** A large run must leave room for other accounts: each of its steps may cost only little. */

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.remove());

it.runIf(service.target === 'local')(
  'a run with 900 parallel steps is delivered, and no publish of another account fails during that time',
  async () => {
    const { delivered, failed } = await measureBesideRun(stage, 900);
    expect({ delivered, failed }).toEqual({ delivered: 900, failed: 0 });
  },
  limitForManyDeathsMs,
);
