/** All checks of a deployment, in the order in which they are made. */
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

/** The checks that run side by side. */
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

/** The steps of a run, one after the other. The checks of one step run side by side, and checks that only wait run beside all steps. */
export const steps: readonly (readonly Check<After>[])[] = [
  [latency],
  alongside,
  // Usage is counted by the message before those of the burst.
  ...[usage, ...loadChecks, throttledCheck, killedWorkerCheck].map((check) => [check]),
];

/** The checks that wait for minutes and use little. */
export const waiting: readonly Check<After>[] = [...longChecks, longAnswer(20 * 60)];

/** The checks that nothing may wait beside. */
export const alone: readonly Check<After>[] = [lostInstanceCheck];

/** The checks that look back on all others. */
export const last: readonly Check<After>[] = deniedChecks;

export const afterChecks: readonly Check<After>[] = [...steps.flat(), ...waiting, ...alone, ...last];
