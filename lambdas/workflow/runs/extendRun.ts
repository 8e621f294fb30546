/** The retention of a run's records: each carries a time to live, which a run that lasts longer prolongs. */
import { type Account, limitsOf } from '../../account/account.ts';
import { dayMs, now } from '../../shared/clock.ts';
import { eachOf } from '../../shared/lists.ts';
import { type DeliverySettings, expiryOf, type WorkflowPart } from '../../message/message.ts';
import type { Invoker } from '../rules/invoking.ts';
import { bodiesOf, type Snapshot, type JournalRecord } from '../rules/journal.ts';
import { hasEnded } from '../run.ts';
import { extendBody } from '../../message/bodies.ts';
import { prolongRecord, readJournal, type MovedBody, type RunKey } from '../store/journals.ts';
import type { JournalRow } from '../store/rows.ts';
import { prolongListed } from '../store/runList.ts';
import { changeRun, type Decision } from './changeRun.ts';
import { settingsOfRun } from './settings.ts';

/** Records are kept this much longer than they are needed, so that few runs have to be prolonged, and once a month at most. */
export const spareMs = 30 * dayMs;

/**
 * Computes until when a run's records are needed by a message that is due at a moment: its retries, then the dead letter queue.
 *
 * @param notBefore Unix milliseconds
 * @returns Unix milliseconds
 */
export const neededUntil = (
  account: Account,
  settings: Pick<DeliverySettings, 'maxRetries' | 'timeoutMs'>,
  notBefore: number,
): number => expiryOf({ ...settings, notBefore }, limitsOf(account).max_dlq_retention_time_milis);

/** Records that are prolonged at once. */
const atOnce = 20;

/**
 * Prolongs all records of a run where they would end too early, and so those of a run that waits for its end. To be called
 * before the record is written that needs them.
 *
 * @param until Unix milliseconds, as {@link neededUntil} computes it
 * @returns Unix milliseconds until which they are kept
 */
export async function extendRun(key: RunKey, head: Snapshot, until: number): Promise<number> {
  if (until <= head.keptUntil) return head.keptUntil;
  const keptUntil = until + spareMs;
  await extendRecords(key, head, keptUntil);
  const { invoker } = await settingsOfRun(key, head);
  // It is told of the end before the records of this run expire, and goes on from then.
  if (invoker !== undefined && !hasEnded(head.state)) await extendInvoker(key.accountId, invoker, keptUntil);
  return keptUntil;
}

/**
 * Keeps a run for a message of it that waits for longer than it was to be kept.
 *
 * @param until Unix milliseconds, as {@link neededUntil} computes it
 */
export async function extendRunFor(accountId: string, part: WorkflowPart, until: number): Promise<void> {
  const key: RunKey = { accountId, runId: part.runId };
  const isActive = await extendActive(key, (head) => head.startSeq === part.startSeq, until);
  // Nothing is written behind the end of a run, or the start of the next one of its id.
  if (!isActive) await extendRecords(key, part, until + spareMs);
}

const extendInvoker = (accountId: string, { runId, createdAt }: Invoker, until: number): Promise<boolean> =>
  extendActive({ accountId, runId }, (head) => head.createdAt === createdAt, until);

/** @returns whether the run that is meant is active */
async function extendActive(key: RunKey, isIt: (head: Snapshot) => boolean, until: number): Promise<boolean> {
  const { result } = await changeRun(key, async (head): Promise<Decision<boolean>> => {
    if (head === undefined || !isIt(head) || hasEnded(head.state)) return { result: false };
    if (until <= head.keptUntil) return { result: true };
    return {
      record: { kind: 'kept', at: now() },
      keptUntil: await extendRun(key, head, until),
      result: true,
    };
  });
  return result;
}

async function extendRecords(
  key: RunKey,
  { startSeq, createdAt }: Pick<Snapshot, 'startSeq' | 'createdAt'>,
  keptUntil: number,
): Promise<void> {
  let some: JournalRow[] = [];
  const prolongSome = (): Promise<void> =>
    eachOf(some, atOnce, async ({ record, head: { seq } }) => {
      await prolongRecord(key, seq, keptUntil, await movedBodies(key, record, keptUntil));
    });
  for await (const row of readJournal(key, startSeq)) {
    if (row.head.startSeq !== startSeq) break;
    some.push(row);
    if (some.length < atOnce) continue;
    await prolongSome();
    some = [];
  }
  await prolongSome();
  await prolongListed({ ...key, createdAt }, keptUntil);
}

/** Keeps the bodies of a record for longer: an object of the bucket gets another key for that. */
async function movedBodies(
  { accountId }: RunKey,
  record: JournalRecord,
  expiresAt: number,
): Promise<readonly MovedBody[]> {
  const moved: MovedBody[] = [];
  for (const { messageId, body, path } of bodiesOf(record)) {
    if (body.at === 'here') continue;
    moved.push({ path, body: await extendBody({ accountId, messageId, expiresAt }, body, now()) });
  }
  return moved;
}
