/**
 * Refusals of submissions. The published client looks only at the status. With 400 it assumes that the run
 * has ended, and the endpoint reports success. With 412 it fails the run at once, with the refusal's message.
 * With any other error, the attempt fails and its retry runs the user's code again.
 */
import { badRequest, HttpError, quote } from '../../error/httpError.ts';

export const endedRun = (runId: string): HttpError =>
  badRequest(
    'run_ended',
    `can not append to a cancelled workflow: run ${quote(runId)} has ended or is not known.`,
  );

/** The submission can never be accepted. The run fails, and its log shows why. */
export const refusedSubmission = (message: string): HttpError =>
  new HttpError(412, 'submission_refused', message);

/** A retry with the same submission would get the same status. */
const permanent: ReadonlySet<number> = new Set([400, 403, 404, 413]);

/**
 * Turns the refusal of an ordinary message into the refusal of a submission, whose client takes 400 for the
 * end of the run. Temporary refusals are not changed.
 */
export const asSubmissionRefusal = (error: HttpError): HttpError =>
  permanent.has(error.status) ? refusedSubmission(error.message) : error;
