/** A run of a workflow: one execution of the user's function, over many deliveries. */
import type { RunIdentity } from '../wire/workflowFilters.ts';
import type { RunState } from '../wire/states.ts';

export const hasEnded = (state: RunState): boolean => state !== 'RUN_STARTED';

/** Characters. */
export const longestRunId = 256;
/** A run's id is written into paths unescaped. */
const runIdForm = /^[\x21-\x7e\x80-\xff]+$/;
const reservedInPaths = /[/?#%\\]/;
/** A path of the API has this word in place of a run's id. */
export const reservedRunId = 'count';

/** Other texts are never read, because they may not be valid keys. */
export const isRunId = (text: string): boolean =>
  text.length <= longestRunId &&
  runIdForm.test(text) &&
  !reservedInPaths.test(text) &&
  text !== reservedRunId;

export interface Run extends RunIdentity {
  readonly url: string;
}

/** The client omits the header when it means three. */
const clientsRetries = 3;

export const defaultRunRetries = (maxRetries: number): number => Math.min(clientsRetries, maxRetries);

export const deepestInvoke = 100;
