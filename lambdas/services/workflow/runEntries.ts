/** The list of a run's entries: for its deliveries, and for endpoints that read it themselves. */
import { largestText } from '../../api/answerSize.ts';
import type { Answer } from '../../api/answers.ts';
import type * as answers from '../../api/workflowAnswers.ts';
import type { Account } from '../../domain/account/account.ts';
import { HttpError, notFound, quote } from '../../domain/httpError.ts';
import { chunksOf } from '../../domain/lists.ts';
import type { Entry } from '../../domain/workflow/entry.ts';
import type { ListedEntry } from '../../domain/workflow/journal.ts';
import { listBytes } from '../../domain/workflow/listBody.ts';
import { hasEnded, isRunId } from '../../domain/workflow/run.ts';
import { loadBody } from '../../stores/message/bodies.ts';
import { loadHead, type RunKey } from '../../stores/workflow/journals.ts';
import { loadRun } from './loadRun.ts';

/** Bodies that are read at once. */
const bodiesAtOnce = 20;

/** Reads the bodies of entries. The result is in the order of the list, as `listBody` takes it. */
export async function loadEntryBodies(entries: readonly ListedEntry[]): Promise<readonly Entry[]> {
  const loaded: Entry[] = [];
  for (const some of chunksOf(entries, bodiesAtOnce)) {
    const all = some.map(async (entry) => ({
      ...sizeOf(entry),
      body: await loadBody(entry.messageId, entry.body),
    }));
    loaded.push(...(await Promise.all(all)));
  }
  return loaded;
}

export const sizeOf = ({ messageId, bodyBytes }: ListedEntry) => ({
  messageId,
  body: { length: bodyBytes },
  // Whatever else a run sends is no entry of its list.
  callType: 'step' as const,
});

/** Characters that an answer escapes, for each entry: the quotes around its three names and its three values. */
const quotesOfEntry = 12;
const quotesAround = 2;

/** Tells whether the service can answer with the list. Where it cannot, a delivery has to carry it. */
export const fitsIntoAnswer = (entries: readonly ListedEntry[]): boolean =>
  listBytes(entries.map(sizeOf)) + quotesOfEntry * entries.length + quotesAround <= largestText;

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
  const head = isRunId(runId) ? await loadHead(key) : undefined;
  const run = head && !hasEnded(head.state) ? await loadRun(key, head.startSeq) : undefined;
  if (run === undefined || hasEnded(run.head.state)) {
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
