import * as z from 'zod/mini';
import type { Account } from '../account/account.ts';
import { HttpError, notFound, quote } from '../error/httpError.ts';
import { largestText } from '../wire/answerSize.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import { isActive, type RunKey } from './rules/journal.ts';
import { isRunId } from './run.ts';
import { loadRunList } from './runs/knownRuns.ts';
import { loadSnapshot } from './store/journals.ts';

const shape = z.array(z.object({ messageId: z.string(), body: z.string(), callType: z.literal('step') }));

/**
 * Returns the whole list of an active run, for an endpoint whose delivery had no body.
 *
 * @throws HttpError 404 for an ended or unknown run, 413 for a list that is too long for an answer
 */
export async function runEntries(
  account: Account,
  runId: string,
): Promise<Answer<typeof answers.runEntries>> {
  const key: RunKey = { accountId: account.id, runId };
  const snapshot = isRunId(runId) ? await loadSnapshot(key) : undefined;
  const run = isActive(snapshot) ? await loadRunList(key, snapshot.startSeq) : undefined;
  if (run === undefined) {
    throw notFound('run_not_found', `The run ${quote(runId)} has ended or is not known.`);
  }
  const { list } = run;
  const { entries } = list;
  if (!list.fitsIntoAnswer()) {
    throw new HttpError(
      413,
      'answer_too_large',
      `The ${entries} entries of the run ${quote(runId)} have ${list.bytesOf(entries)} bytes as JSON; an answer has at most ${largestText}.`,
    );
  }
  return shape.parse(JSON.parse((await list.bodyOf(entries)).toString('latin1')));
}
