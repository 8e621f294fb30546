/** A run of a workflow: one execution of the user's function, over many deliveries. */
import type { RunIdentity } from '../wire/workflowFilters.ts';
import type { RunState } from '../wire/states.ts';

export const hasEnded = (state: RunState): boolean => state !== 'RUN_STARTED';

export const longestRunId = 256;
/** A run's id is part of paths, without escapes. */
const runIdForm = /^[\x21-\x7e\x80-\xff]+$/;
const reservedInPaths = /[/?#%\\]/;
/** Not allowed as a run's id, because a path of the API has it in that place. */
export const reservedRunId = 'count';

/** Whether a text can be a run's id. Other texts are not looked up: they may not be valid keys. */
export const isRunId = (text: string): boolean =>
  text.length <= longestRunId &&
  runIdForm.test(text) &&
  !reservedInPaths.test(text) &&
  text !== reservedRunId;

export interface Run extends RunIdentity {
  readonly url: string;
}

/** The client's default for the number of retries. It then sends no header. */
const clientsRetries = 3;

export const defaultRunRetries = (maxRetries: number): number => Math.min(clientsRetries, maxRetries);

export const deepestInvoke = 100;
