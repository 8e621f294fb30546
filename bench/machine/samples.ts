/** Many messages in a store. They are copies of two real ones, one of which was delivered. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { newId, shardOf } from '../../lambdas/shared/ids.ts';
import { Filler, linesOf } from '../../local/backup/contents.ts';
import { storeName } from '../../local/backup/files.ts';
import { openDataDirectory } from '../../local/stage/dataDirectory.ts';
import type { Store } from '../../local/store/store.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import type { Stage } from '../../test/support/stage.ts';
import { makeStageAccount, post } from '../stageClient.ts';

/** One message's entries in a store: its rows, and its schedule if it waits for days. */
interface Sample {
  readonly messageId: string;
  readonly acceptedAt: number;
  readonly lines: readonly string[];
}

export interface Samples {
  /** The account of the samples. */
  readonly token: string;
  readonly waiting: Sample;
  readonly delivered: Sample;
}

const bodyBytes = 500;

/** Lets a stage deliver one message, and accept another that waits for days; then stops it. */
export async function takeSamples(stage: Stage): Promise<Samples> {
  const receiver = await startReceiver();
  try {
    const inbox = receiver.inbox();
    const token = await makeStageAccount(stage);
    const publish = async (headers: Readonly<Record<string, string>>): Promise<string> => {
      const url = `${stage.url}/v2/publish/${inbox.url}/hooks/orders/paid`;
      const body = JSON.stringify({ note: 'n'.repeat(bodyBytes) });
      const json = { 'content-type': 'application/json', ...headers };
      const { text } = await post(url, `Bearer ${token}`, body, json);
      return z.object({ messageId: z.string() }).parse(JSON.parse(text)).messageId;
    };
    const acceptedAt = Date.now();
    const delivered = await publish({});
    const waiting = await publish({ 'Svc-Delay': '5d' });
    await inbox.received(1);
    await stage.stop();
    const lines = await withStore(stage.dataDir, (store) => {
      const now = store.snapshot();
      const all = [...linesOf(store, now)];
      now.done();
      return Promise.resolve(all);
    });
    const sampleOf = (messageId: string): Sample => ({
      messageId,
      acceptedAt,
      lines: lines.filter((line) => line.includes(messageId)),
    });
    return { token, waiting: sampleOf(waiting), delivered: sampleOf(delivered) };
  } finally {
    await receiver.close();
  }
}

export async function withStore<T>(dataDir: string, work: (store: Store) => Promise<T>): Promise<T> {
  const data = await openDataDirectory(dataDir);
  try {
    return await work(data.store);
  } finally {
    await data.release();
  }
}

/** The size of the store's file, which never shrinks. */
export const fileMb = (dataDir: string): number => statSync(join(dataDir, storeName)).size / 2 ** 20;

/**
 * Writes copies of a sample message with new ids, a thousand a second. @param at when the last was accepted
 */
export async function copyMessages(store: Store, sample: Sample, count: number, at: number): Promise<void> {
  const filler = new Filler(store);
  for (let copied = 0; copied < count; copied += 1) {
    for (const line of copyOf(sample, at - (count - copied))) await filler.take(line);
  }
  await filler.flush();
}

const times = /"(createdAt|notBefore|startedAt|recordedAt|expiresAt)":\{"N":"(\d+)"\}/g;
const shards = /"shard":\{"S":"([^#"]+)#\d+"\}/g;

function copyOf({ messageId, acceptedAt, lines }: Sample, at: number): readonly string[] {
  const id = newId('msg', at);
  const laterMs = at - acceptedAt;
  return lines.map((line) =>
    line
      .replaceAll(messageId, id)
      .replaceAll(shards, (_all, accountId: string) => `"shard":{"S":"${shardOf(accountId, id)}"}`)
      .replaceAll(times, (_all, name: string, value: string) => {
        const later = name === 'expiresAt' ? Math.floor(laterMs / 1_000) : laterMs;
        return `"${name}":{"N":"${Number(value) + later}"}`;
      }),
  );
}
