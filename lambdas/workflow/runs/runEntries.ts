/** The list of a run's entries: for its deliveries, and for endpoints that read it themselves. */
import { largestText } from '../../wire/answerSize.ts';
import { chunksOf, weighedChunksOf } from '../../shared/lists.ts';
import type { Entry } from '../rules/entry.ts';
import type { ListedEntry } from '../rules/journal.ts';
import { loadBody } from '../../message/bodies.ts';

/** Bodies that are read at once, and bytes of them: a larger one is read alone. */
const bodiesAtOnce = 20;
const bytesAtOnce = 8 * 1_024 * 1_024;
/** The client of S3 has an answer in pieces, and then as a whole. */
const copiesWhileRead = 2;

/** An entry whose body is to be read. */
type Unread = Pick<ListedEntry, 'messageId' | 'body' | 'bodyBytes'>;

const readTogether = (entries: readonly Unread[]): readonly (readonly Unread[])[] =>
  chunksOf(entries, bodiesAtOnce).flatMap((some) =>
    weighedChunksOf(some, bytesAtOnce, ({ bodyBytes }) => bodyBytes),
  );

/** Counts the bytes that {@link entriesWithBodies} holds at most, where its caller keeps none of the entries. */
export const bytesWhileLoading = (entries: readonly Unread[]): number =>
  readTogether(entries).reduce(
    (most, some) => Math.max(most, copiesWhileRead * some.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0)),
    0,
  );

/** Reads the bodies of entries, a few at a time, in the order of the list. */
export async function* entriesWithBodies(entries: readonly Unread[]): AsyncGenerator<Entry> {
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

export const sizeOf = ({ messageId, bodyBytes }: Pick<ListedEntry, 'messageId' | 'bodyBytes'>) => ({
  messageId,
  body: { length: bodyBytes },
  // Other messages of a run are not in its list.
  callType: 'step' as const,
});

/** Characters that an answer escapes, for each entry: the quotes around its three names and its three values. */
const quotesOfEntry = 12;
const quotesAround = 2;

/**
 * Tells whether an answer of the service can hold a list. Where it cannot, a delivery has to carry the list.
 *
 * @param bytes of the list
 */
export const fitsIntoAnswer = (bytes: number, entries: number): boolean =>
  bytes + quotesOfEntry * entries + quotesAround <= largestText;
