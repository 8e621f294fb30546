/** Journals of the previous release: lines of JSON, each about a message or a schedule. */
import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../../json.ts';
import { keyOf, storedSchedule, type StoredSchedule } from '../../scheduler/storedSchedules.ts';
import { queuedMessage, type QueuedMessage } from '../../sqs/storedMessages.ts';
import { StageError } from '../../stage/stageError.ts';

const message = z.omit(queuedMessage, { queue: true });
const queueEntry = z.discriminatedUnion('op', [
  z.object({ op: z.literal('keep'), queue: z.string(), message }),
  z.object({ op: z.literal('receive'), id: z.string(), at: z.number() }),
  z.object({ op: z.literal('move'), id: z.string(), queue: z.string(), at: z.number() }),
  z.object({ op: z.literal('delete'), ids: z.array(z.string()) }),
  z.object({ op: z.literal('purge'), queue: z.string() }),
]);

const id = z.object({ group: z.string(), name: z.string() });
const scheduleEntry = z.discriminatedUnion('op', [
  z.object({ op: z.literal('keep'), schedule: storedSchedule }),
  z.object({ op: z.literal('done'), id }),
  z.object({ op: z.literal('delete'), id }),
  z.object({ op: z.literal('keepGroup') }),
]);

/** The messages in the queues. Entries about deleted messages are ignored. */
export function messagesIn(path: string): Iterable<QueuedMessage> {
  const kept = new Map<string, QueuedMessage>();
  for (const entry of entriesIn(path, queueEntry)) {
    const found = 'id' in entry ? kept.get(entry.id) : undefined;
    switch (entry.op) {
      case 'keep':
        kept.set(entry.message.id, { ...entry.message, queue: entry.queue });
        break;
      case 'receive':
        if (found === undefined) break;
        found.receives += 1;
        found.firstReceivedAt ??= entry.at;
        break;
      case 'move':
        if (found === undefined) break;
        kept.set(entry.id, {
          ...found,
          availableAt: entry.at,
          deadLetterSource: found.queue,
          queue: entry.queue,
        });
        break;
      case 'delete':
        for (const deleted of entry.ids) kept.delete(deleted);
        break;
      case 'purge':
        for (const [key, { queue }] of kept) if (queue === entry.queue) kept.delete(key);
    }
  }
  return kept.values();
}

export function schedulesIn(path: string): Iterable<StoredSchedule> {
  const kept = new Map<string, StoredSchedule>();
  for (const entry of entriesIn(path, scheduleEntry)) {
    switch (entry.op) {
      case 'keep':
        kept.set(keyOf(entry.schedule), entry.schedule);
        break;
      case 'done': {
        const found = kept.get(keyOf(entry.id));
        if (found !== undefined) found.isDone = true;
        break;
      }
      case 'delete':
        kept.delete(keyOf(entry.id));
        break;
      case 'keepGroup':
    }
  }
  return kept.values();
}

/**
 * An incomplete last line is dropped, because its write was never acknowledged. @throws StageError if another line is invalid
 */
function entriesIn<Schema extends z.ZodMiniType>(path: string, schema: Schema): readonly z.infer<Schema>[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const { success, data } = schema.safeParse(jsonOrUndefined(line));
    if (success) return data;
    throw new StageError('The backup is damaged: a journal has a line that is not an entry.');
  });
}
