/** Limits that several bundles need, without the table of configuration. */
import { dayMs, secondMs } from './clock.ts';

export const nameForm = '^[A-Za-z0-9._-]{1,128}$';
export const signatureEncodings = ['hex', 'base64'] as const;
export const mostLabels = 10;
/** The most characters of a label, trimmed. */
export const longestLabel = 100;
const labelForm = `\\s*[^,\\s]([^,]{0,${longestLabel - 2}}[^,\\s])?\\s*`;
export const labelsForm = `^${labelForm}(,${labelForm}){0,${mostLabels - 1}}$`;
export const longestDeduplicationId = 1_024;
export const longestFlowControlKey = 256;
/** Short, because a lane's row has the keys of up to 50 tenants. */
export const longestFairKey = 64;
/** The most steps in a run, and branches in a parallel group. Each delivery includes all earlier steps. */
export const mostEntries = 10_000;
/** Characters of a step's name. */
export const longestStepName = 1_024;
/**
 * The most characters of a retry-delay expression: enough for a sensible formula, which is evaluated in
 * microseconds.
 */
export const longestExpression = 500;
/** The longest retry delay that a message or a destination can request. */
export const longestRetryDelayMs = dayMs;
/** A header's text: no control characters (RFC 9110, 5.5). */
export const headerTextForm = '^[^\\x00-\\x08\\x0a-\\x1f\\x7f]*$';
/** How many rows one request searches for a text in their bodies. Each body may need a separate call. */
export const mostSearched = 10_000;
/** How long a search may take. The gateway times out after 29 s, and bodies have up to 4 MB. */
export const searchBudgetMs = 10 * secondMs;
/** The largest parallelism or rate that is accepted: far above what a lane can do. */
export const largestCount = 1_000_000_000;

/**
 * The form of a duration. Its length is not limited.
 *
 * @param units their letters
 */
export const durationForm = (units: string): string => `^(\\d+[${units}])+$`;

export const positiveDurationForm = (units: string): string =>
  `^(\\d+[${units}])*\\d*[1-9]\\d*[${units}](\\d+[${units}])*$`;

/** The form of a destination's URL. A parser then decides whether it is valid. */
export const urlForm = '^[hH][tT][tT][pP][sS]?://[^/].*';

/** The longest time for which an attempt stays open until it is completed (ms). */
export const longestOpenMs = 7 * dayMs;
