/**
 * Refusals of what a workflow endpoint submits. The published client reads the status of the whole request and nothing else:
 * 400 means that the run has ended, and the endpoint reports success; 412 fails the run at once, with the sentence as its
 * error; anything else is a failed attempt, whose retry runs the user's code again.
 */
import { badRequest, HttpError, quote } from '../../error/httpError.ts';

/** For a submission to a run that has ended, or that never was. */
export const endedRun = (runId: string): HttpError =>
  badRequest(
    'run_ended',
    `can not append to a cancelled workflow: run ${quote(runId)} has ended or is not known.`,
  );

/** For a submission that can never be accepted: the run fails, where everybody sees it. */
export const refusedSubmission = (message: string): HttpError =>
  new HttpError(412, 'submission_refused', message);

/** Statuses that say something about the submission itself, which would be the same the next time. */
const permanent: ReadonlySet<number> = new Set([400, 403, 404, 413]);

/**
 * Turns the refusal of an ordinary message into that of a submission of a run that is active, so that a malformed one is not
 * taken for the end of the run. What may pass, such as 429, stays.
 */
export const asSubmissionRefusal = (error: HttpError): HttpError =>
  permanent.has(error.status) ? refusedSubmission(error.message) : error;
