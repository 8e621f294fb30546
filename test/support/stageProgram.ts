/** The command, with a control over its stage and clock if SVC_TEST_CONTROL is 1. */
import { controlStages } from '../../local/stage/testControl.ts';
import { takeOverClock } from './testClock.ts';
import { startTestControl } from './testControl.ts';

if (process.env['SVC_TEST_CONTROL'] === '1') {
  const clock = takeOverClock();
  controlStages((controlled) => startTestControl({ ...controlled, clock }));
}
await import('../../bin/svcQueue.ts');
