/** All checks of a deployment, in order. */
import type { Check } from '../check.ts';
import { answerChecks } from './answers/answerChecks.ts';
import { doorChecks } from './answers/doorChecks.ts';
import { gatewayChecks, throttledCheck } from './answers/gatewayChecks.ts';
import { regionChecks } from './answers/regionChecks.ts';
import type { After } from './context.ts';
import { deliveryChecks } from './delivery/deliveryChecks.ts';
import { functionCheck } from './delivery/functionCheck.ts';
import { loadChecks } from './delivery/loadChecks.ts';
import { longAnswer, lostInstanceCheck } from './delivery/instanceChecks.ts';
import { killedWorkerCheck, longChecks } from './delivery/longChecks.ts';
import { senderCheck } from './delivery/senderCheck.ts';
import { timeChecks } from './delivery/timeChecks.ts';
import { dataCheck } from './watch/dataChecks.ts';
import { deniedChecks } from './watch/deniedChecks.ts';
import { latency, usage } from './watch/measures.ts';
import { watchChecks } from './watch/watchChecks.ts';

const alongside: readonly Check<After>[] = [
  ...answerChecks,
  ...gatewayChecks,
  ...doorChecks,
  ...regionChecks,
  ...deliveryChecks,
  functionCheck,
  senderCheck,
  ...timeChecks,
  dataCheck,
  ...watchChecks,
];

/**
 * The steps of a run. The checks of a step run in parallel. Checks that only wait run at the same time as all
 * steps.
 */
export const steps: readonly (readonly Check<After>[])[] = [
  [latency],
  alongside,
  // Usage is reported for each message then, so it is checked before the burst.
  ...[usage, ...loadChecks, throttledCheck, killedWorkerCheck].map((check) => [check]),
];

/** Checks that wait for minutes and use little. */
export const waiting: readonly Check<After>[] = [...longChecks, longAnswer(20 * 60)];

/** Checks during which no other check may wait. */
export const alone: readonly Check<After>[] = [lostInstanceCheck];

/** Checks of what all others have caused. */
export const last: readonly Check<After>[] = deniedChecks;

export const afterChecks: readonly Check<After>[] = [...steps.flat(), ...waiting, ...alone, ...last];
