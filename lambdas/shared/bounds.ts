/** Bounds of single values, apart from the table of all configuration: so that bundles need not load that. */
import { dayMs, secondMs } from './clock.ts';

/** The form of names of URL groups, queues and schedules. */
export const nameForm = '^[A-Za-z0-9._-]{1,128}$';
/** How the signature of an endpoint's own header is written. */
export const signatureEncodings = ['hex', 'base64'] as const;
export const mostLabels = 10;
/** Characters, without the spaces at a label's ends. */
export const longestLabel = 100;
const labelForm = `\\s*[^,\\s]([^,]{0,${longestLabel - 2}}[^,\\s])?\\s*`;
/** The form of labels with commas between them. */
export const labelsForm = `^${labelForm}(,${labelForm}){0,${mostLabels - 1}}$`;
export const longestDeduplicationId = 1_024;
export const longestFlowControlKey = 256;
/** A lane's row has the keys of up to 50 tenants. */
export const longestFairKey = 64;
/** Entries of a workflow's run, which bound its steps' numbers and a group's branches: each delivery shows all before it. */
export const mostEntries = 10_000;
/** Characters of a step's name. */
export const longestStepName = 1_024;
/** Characters of a retry-delay expression: enough for any sensible formula; reading and evaluating it take microseconds. */
export const longestExpression = 500;
/** No retry waits longer than a day, whatever the message or its destination asks for. */
export const longestRetryDelayMs = dayMs;
/** The characters that a header's value may have (RFC 9110, 5.5), as Latin-1: Node.js sends no others. */
export const headerTextForm = '^[\\t\\x20-\\x7e\\x80-\\xff]*$';
/** Rows whose messages' bodies one request searches: a body may be an object of its own, which is read with a call of its own. */
export const mostSearched = 10_000;
/** Time for that: the gateway gives up after 29 s, and some bodies have 4 MB. */
export const searchBudgetMs = 10 * secondMs;
/** The largest parallelism or rate: far more than one lane can do. */
export const largestCount = 1_000_000_000;

/**
 * The form of a duration of any length: the account's limits refuse what is too long.
 *
 * @param units their letters
 */
export const durationForm = (units: string): string => `^(\\d+[${units}])+$`;

/** The form of a duration that is not zero. */
export const positiveDurationForm = (units: string): string =>
  `^(\\d+[${units}])*\\d*[1-9]\\d*[${units}](\\d+[${units}])*$`;

/** The form of a destination's URL. Not all that match are URLs: a parser decides. */
export const urlForm = '^[hH][tT][tT][pP][sS]?://[^/].*';
