/** The command, with a control over its stage and clock if SVC_TEST_CONTROL is 1, and a clock that is SVC_TEST_AHEAD_MS ahead. */
import { controlStages } from '../../local/stage/testControl.ts';
import { takeOverClock } from './testClock.ts';
import { startTestControl } from './testControl.ts';

if (process.env['SVC_TEST_CONTROL'] === '1') {
  const clock = takeOverClock();
  controlStages((controlled) => startTestControl({ ...controlled, clock }));
}
const { SVC_TEST_AHEAD_MS: aheadMs } = process.env;
if (aheadMs !== undefined) takeOverClock().step(Number(aheadMs));
await import('../../bin/svcQueue.ts');
