import { HttpError } from '../error/httpError.ts';

/** Waits for the end of something. CloudFormation also deletes what was never made, and what somebody else has deleted. */
export async function ignoreMissing(ending: Promise<unknown>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    if (!(error instanceof HttpError && error.status === 404)) throw error;
  }
}
