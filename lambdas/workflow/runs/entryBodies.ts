import { largestText } from '../../wire/answerSize.ts';
import { chunksOf, weighedChunksOf } from '../../shared/lists.ts';
import type { Entry } from '../rules/entry.ts';
import type { ListedEntry } from '../rules/journal.ts';
import { loadBody } from '../../message/bodies.ts';

/** At most this many bodies and bytes are read together. A larger body is read alone. */
const bodiesAtOnce = 20;
const bytesAtOnce = 8 * 1_024 * 1_024;
/** The S3 client holds an answer twice: in pieces, and as a whole. */
const copiesWhileRead = 2;

type Unread = Pick<ListedEntry, 'messageId' | 'body' | 'bodyBytes'>;

const readTogether = (entries: readonly Unread[]): readonly (readonly Unread[])[] =>
  chunksOf(entries, bodiesAtOnce).flatMap((some) =>
    weighedChunksOf(some, bytesAtOnce, ({ bodyBytes }) => bodyBytes),
  );

/** The most bytes that {@link entriesWithBodies} has in memory, if its caller keeps no entries. */
export const bytesWhileLoading = (entries: readonly Unread[]): number =>
  readTogether(entries).reduce(
    (most, some) => Math.max(most, copiesWhileRead * some.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0)),
    0,
  );

/** Reads the bodies of entries, a few at a time, in order. */
export async function* entriesWithBodies(entries: readonly Unread[]): AsyncGenerator<Entry> {
  for (const some of readTogether(entries)) {
    const all = some.map(async (entry) => ({
      ...sizeOf(entry),
      body: await loadBody(entry.messageId, entry.body),
    }));
    yield* await Promise.all(all);
  }
}

/** In the order of the list. */
export async function loadEntryBodies(entries: readonly ListedEntry[]): Promise<readonly Entry[]> {
  const loaded: Entry[] = [];
  for await (const entry of entriesWithBodies(entries)) loaded.push(entry);
  return loaded;
}

export const sizeOf = ({ messageId, bodyBytes }: Pick<ListedEntry, 'messageId' | 'bodyBytes'>) => ({
  messageId,
  body: { length: bodyBytes },
});

/** The quotes of an entry, which an answer escapes: around three names and three values. */
const quotesOfEntry = 12;
const quotesAround = 2;

/**
 * Whether an answer can hold a list. Otherwise a delivery must have it.
 *
 * @param bytes of the list
 */
export const fitsIntoAnswer = (bytes: number, entries: number): boolean =>
  bytes + quotesOfEntry * entries + quotesAround <= largestText;
