/** All checks of a deployment. */
import type { Check } from '../check.ts';
import { apiChecks } from './apiChecks.ts';
import type { After } from './context.ts';
import { deliveryChecks } from './deliveryChecks.ts';
import { functionCheck } from './functionCheck.ts';
import { latency, usage } from './measures.ts';
import { timeChecks } from './timeChecks.ts';
import { watchChecks } from './watchChecks.ts';

/** Those that run side by side. */
export const alongside: readonly Check<After>[] = [
  ...apiChecks,
  ...deliveryChecks,
  functionCheck,
  ...timeChecks,
  ...watchChecks,
];

export const afterChecks: readonly Check<After>[] = [latency, ...alongside, usage];
