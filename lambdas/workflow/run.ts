/** A run of a workflow: one execution of the user's function, over many deliveries. */
import type { RunIdentity } from '../wire/workflowFilters.ts';
import type { RunState } from '../wire/states.ts';

export const hasEnded = (state: RunState): boolean => state !== 'RUN_STARTED';

/** Characters of the longest id of a run. */
export const longestRunId = 256;
/** The id of a run stands in paths as it is. */
const runIdForm = /^[\x21-\x7e\x80-\xff]+$/;
const reservedInPaths = /[/?#%\\]/;
/** A path of the API has this word in the place of a run's id. */
export const reservedRunId = 'count';

/** Tells whether a text can be the id of a run. Other texts are never read, because they may not be keys. */
export const isRunId = (text: string): boolean =>
  text.length <= longestRunId &&
  runIdForm.test(text) &&
  !reservedInPaths.test(text) &&
  text !== reservedRunId;

/** A run with its URL, as its deliveries need it. */
export interface Run extends RunIdentity {
  /** The URL that it was started with. */
  readonly url: string;
}

/**
 * Decides what a request to end a run does. The endpoint may send it twice, when the first answer is lost, and would fail at an
 * error; a user who cancels a run that ended another way is told that there is none.
 *
 * @param state undefined for a run that is not known
 * @param cancel the query parameter: `false` when the function has returned
 * @returns the state that the run gets, or the status of an answer that changes nothing
 */
export function endingOf(
  state: RunState | undefined,
  cancel: boolean,
): { readonly ends: RunState } | { readonly status: 200 | 404 } {
  if (state === 'RUN_STARTED') return { ends: cancel ? 'RUN_CANCELED' : 'RUN_SUCCESS' };
  return { status: !cancel || state === 'RUN_CANCELED' ? 200 : 404 };
}

/** Retries of a run whose start does not name them: the client leaves the header out when it means three. */
const clientsRetries = 3;

export const defaultRunRetries = (maxRetries: number): number => Math.min(clientsRetries, maxRetries);

/** The most runs that may be in a chain of invokes. */
export const deepestInvoke = 100;
