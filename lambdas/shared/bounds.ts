/** Separate from the configuration table, so that bundles need not load it. */
import { dayMs, secondMs } from './clock.ts';

export const nameForm = '^[A-Za-z0-9._-]{1,128}$';
export const signatureEncodings = ['hex', 'base64'] as const;
export const mostLabels = 10;
/** Characters, trimmed. */
export const longestLabel = 100;
const labelForm = `\\s*[^,\\s]([^,]{0,${longestLabel - 2}}[^,\\s])?\\s*`;
export const labelsForm = `^${labelForm}(,${labelForm}){0,${mostLabels - 1}}$`;
export const longestDeduplicationId = 1_024;
export const longestFlowControlKey = 256;
/** A lane's row has up to 50 tenants' keys. */
export const longestFairKey = 64;
/** The most steps in a run, and branches in a parallel group. Each delivery includes all earlier steps. */
export const mostEntries = 10_000;
/** Characters of a step's name. */
export const longestStepName = 1_024;
/** Characters of a retry-delay expression: enough for a sensible formula, and evaluated in microseconds. */
export const longestExpression = 500;
/** Caps the delay that a message or destination requests. */
export const longestRetryDelayMs = dayMs;
/** A header's text: no control characters (RFC 9110, 5.5). */
export const headerTextForm = '^[^\\x00-\\x08\\x0a-\\x1f\\x7f]*$';
/** Rows whose bodies one request searches: each body may need a separate call. */
export const mostSearched = 10_000;
/** The time limit of a search: the gateway times out after 29 s, and some bodies have 4 MB. */
export const searchBudgetMs = 10 * secondMs;
/** The largest parallelism or rate: far above what a lane can do. */
export const largestCount = 1_000_000_000;

/**
 * A duration of any length, up to the account's limits.
 *
 * @param units their letters
 */
export const durationForm = (units: string): string => `^(\\d+[${units}])+$`;

export const positiveDurationForm = (units: string): string =>
  `^(\\d+[${units}])*\\d*[1-9]\\d*[${units}](\\d+[${units}])*$`;

/** A destination's URL. A parser decides whether it is valid. */
export const urlForm = '^[hH][tT][tT][pP][sS]?://[^/].*';
