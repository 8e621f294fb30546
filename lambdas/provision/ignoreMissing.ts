import { HttpError } from '../error/httpError.ts';

/** Waits for a deletion. CloudFormation also deletes resources that were never made or are already deleted. */
export async function ignoreMissing(ending: Promise<unknown>): Promise<void> {
  try {
    await ending;
  } catch (error) {
    if (!(error instanceof HttpError && error.status === 404)) throw error;
  }
}
