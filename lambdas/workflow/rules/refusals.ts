/**
 * Refusals of what a workflow endpoint submits. The published client reads the status of the whole request and nothing else:
 * 400 means that the run has ended, and the endpoint reports success; 412 fails the run at once, with the sentence as its
 * error; anything else is a failed attempt, whose retry runs the user's code again.
 */
import { badRequest, HttpError, quote } from '../../error/httpError.ts';

/** The refusal of a submission to a run that has ended, or that is not known. */
export const endedRun = (runId: string): HttpError =>
  badRequest(
    'run_ended',
    `can not append to a cancelled workflow: run ${quote(runId)} has ended or is not known.`,
  );

/** The refusal of a submission that can never be accepted: the run fails, and its account sees why. */
export const refusedSubmission = (message: string): HttpError =>
  new HttpError(412, 'submission_refused', message);

/** Statuses that depend on the submission alone: a retry would get the same. */
const permanent: ReadonlySet<number> = new Set([400, 403, 404, 413]);

/**
 * Turns the refusal of an ordinary message into that of a submission to an active run, so that a malformed one is not taken
 * for the end of the run. A refusal that may pass, such as 429, stays.
 */
export const asSubmissionRefusal = (error: HttpError): HttpError =>
  permanent.has(error.status) ? refusedSubmission(error.message) : error;

/** A request of an endpoint that was refused, as the log of its run shows it. */
export interface Refusal {
  /** One of the codes of errors. */
  readonly code: string;
  readonly message: string;
  /** Unix milliseconds. */
  readonly at: number;
}
