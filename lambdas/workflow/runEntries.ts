/** The list of a run's entries, for endpoints that read it themselves. */
import type { Account } from '../account/account.ts';
import { HttpError, notFound, quote } from '../error/httpError.ts';
import { largestText } from '../wire/answerSize.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import { isActive, type RunKey } from './rules/journal.ts';
import { isRunId } from './run.ts';
import { listBytes } from './runs/listBody.ts';
import { loadRun } from './runs/loadRun.ts';
import { fitsIntoAnswer, loadEntryBodies, sizeOf } from './runs/runEntries.ts';
import { loadSnapshot } from './store/journals.ts';

/**
 * Reads the whole list of a run that goes on, as an endpoint does whose delivery had no body.
 *
 * @throws HttpError 404 for a run that has ended or is not known, 413 for a list that is too long for an answer
 */
export async function runEntries(
  account: Account,
  runId: string,
): Promise<Answer<typeof answers.runEntries>> {
  const key: RunKey = { accountId: account.id, runId };
  const snapshot = isRunId(runId) ? await loadSnapshot(key) : undefined;
  const run = isActive(snapshot) ? await loadRun(key, snapshot.startSeq) : undefined;
  if (run === undefined || !isActive(run.snapshot)) {
    throw notFound('run_not_found', `The run ${quote(runId)} has ended or is not known.`);
  }
  const { entries } = run;
  if (!fitsIntoAnswer(entries)) {
    const bytes = listBytes(entries.map(sizeOf));
    throw new HttpError(
      413,
      'answer_too_large',
      `The ${entries.length} entries of the run ${quote(runId)} have ${bytes} bytes as JSON; an answer has at most ${largestText}.`,
    );
  }
  return (await loadEntryBodies(entries)).map(({ messageId, body, callType }) => ({
    messageId,
    body: Buffer.from(body.buffer, body.byteOffset, body.length).toString('base64'),
    callType,
  }));
}
