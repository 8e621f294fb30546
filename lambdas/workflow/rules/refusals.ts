/**
 * Refusals of submissions. The published client looks only at the status: 400 means that the run has ended, and the endpoint
 * reports success; 412 fails the run at once with the refusal's message; any other error is a failed attempt, whose retry runs
 * the user's code again.
 */
import { badRequest, HttpError, quote } from '../../error/httpError.ts';

/** The run has ended or is unknown. */
export const endedRun = (runId: string): HttpError =>
  badRequest(
    'run_ended',
    `can not append to a cancelled workflow: run ${quote(runId)} has ended or is not known.`,
  );

/** The submission can never be accepted: the run fails, and its account sees why. */
export const refusedSubmission = (message: string): HttpError =>
  new HttpError(412, 'submission_refused', message);

/** A retry would get the same status, because it depends only on the submission. */
const permanent: ReadonlySet<number> = new Set([400, 403, 404, 413]);

/**
 * Turns the refusal of an ordinary message into one for an active run, whose client reads 400 as the end of the run. Temporary
 * refusals stay.
 */
export const asSubmissionRefusal = (error: HttpError): HttpError =>
  permanent.has(error.status) ? refusedSubmission(error.message) : error;
