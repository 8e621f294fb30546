/** Bounds of single values, apart from the table of all configuration: bundles do not load that for their sake. */
import { dayMs } from './clock.ts';

/** Names of URL groups, queues and schedules. */
export const nameForm = '^[A-Za-z0-9._-]{1,128}$';
export const mostLabels = 10;
export const longestLabel = 100;
export const longestDeduplicationId = 1_024;
export const longestFlowControlKey = 256;
/** Entries of a workflow's run: each delivery shows all before it. So no step has a higher number, and no group more branches. */
export const mostEntries = 10_000;
/** Characters of a step's name. */
export const longestStepName = 1_024;
/** Of a retry-delay expression: enough for any sensible formula, and reading and evaluating it take microseconds. */
export const longestExpression = 500;
/** No retry waits longer than a day, whatever the message or its destination asks for. */
export const longestRetryDelayMs = dayMs;
/** What can be the URL of a destination; whether it is one, no pattern says. */
export const urlForm = '^[hH][tT][tT][pP][sS]?://[^/].*';
