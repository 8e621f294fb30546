/** The list of a run's entries: for its deliveries, and for endpoints that read it themselves. */
import { largestText } from '../../wire/answerSize.ts';
import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import type { Account } from '../../account/account.ts';
import { HttpError, notFound, quote } from '../../shared/httpError.ts';
import { chunksOf, weighedChunksOf } from '../../shared/lists.ts';
import type { Entry } from '../rules/entry.ts';
import type { ListedEntry } from '../rules/journal.ts';
import { listBytes } from './listBody.ts';
import { hasEnded, isRunId } from '../run.ts';
import { loadBody } from '../../message/bodies.ts';
import { loadHead, type RunKey } from '../store/journals.ts';
import { loadRun } from './loadRun.ts';

/** Bodies that are read at once, and bytes of them: a larger one is read alone. */
const bodiesAtOnce = 20;
const bytesAtOnce = 8 * 1_024 * 1_024;
/** The client of S3 has an answer in pieces, and then as a whole. */
const copiesWhileRead = 2;

const readTogether = (entries: readonly ListedEntry[]): readonly (readonly ListedEntry[])[] =>
  chunksOf(entries, bodiesAtOnce).flatMap((some) =>
    weighedChunksOf(some, bytesAtOnce, ({ bodyBytes }) => bodyBytes),
  );

/** Counts the bytes that {@link entriesWithBodies} holds at most, where each entry is let go at once. */
export const bytesWhileLoading = (entries: readonly ListedEntry[]): number =>
  readTogether(entries).reduce(
    (most, some) => Math.max(most, copiesWhileRead * some.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0)),
    0,
  );

/** Reads the bodies of entries, a few at a time, in the order of the list. */
export async function* entriesWithBodies(entries: readonly ListedEntry[]): AsyncGenerator<Entry> {
  for (const some of readTogether(entries)) {
    const all = some.map(async (entry) => ({
      ...sizeOf(entry),
      body: await loadBody(entry.messageId, entry.body),
    }));
    yield* await Promise.all(all);
  }
}

/** Reads the bodies of entries. The result is in the order of the list, as `listBody` takes it. */
export async function loadEntryBodies(entries: readonly ListedEntry[]): Promise<readonly Entry[]> {
  const loaded: Entry[] = [];
  for await (const entry of entriesWithBodies(entries)) loaded.push(entry);
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
