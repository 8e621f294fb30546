/** Reads a backup of the previous release into a store, with that release's database program. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { textToBytes } from '../../dynamodb/codec.ts';
import { allTables } from '../../dynamodb/table.ts';
import { checkedItem } from '../../dynamodb/values.ts';
import { freePort, loopback } from '../../http.ts';
import { jsonOrUndefined } from '../../json.ts';
import { StageError } from '../../stage/stageError.ts';
import type { Filler } from '../contents.ts';
import { findDynoxide } from './dynoxide.ts';
import { databaseName, queueJournalName, schedulerJournalName, uncheckedName } from './folder.ts';
import { messagesIn, schedulesIn } from './journals.ts';

/** @param announce called before the program is fetched */
export async function readBefore(
  folder: string,
  filler: Filler,
  announce: (sentence: string) => void,
): Promise<void> {
  if (existsSync(join(folder, uncheckedName))) {
    throw new StageError(
      'The backup was made while its release was looking for lost jobs: start that release once more, and make another backup.',
    );
  }
  await readTables(join(folder, databaseName), filler, announce);
  for (const message of messagesIn(join(folder, queueJournalName))) {
    await filler.take(JSON.stringify({ message }));
  }
  for (const schedule of schedulesIn(join(folder, schedulerJournalName))) {
    await filler.take(JSON.stringify({ schedule }));
  }
  await readBodies(join(folder, 'bodies'), filler);
}

const suffix = '.object';
const head = z.object({ contentType: z.string(), modifiedAt: z.number() });

/** Each file is an object: a line of JSON, then the object's bytes. */
async function readBodies(folder: string, filler: Filler): Promise<void> {
  const names = existsSync(folder) ? await readdir(folder) : [];
  for (const name of names.filter((one) => one.endsWith(suffix))) {
    const bytes = await readFile(join(folder, name));
    const lineEnd = bytes.indexOf('\n');
    const about = head.parse(jsonOrUndefined(bytes.toString('utf8', 0, lineEnd)));
    const key = decodeURIComponent(name.slice(0, -suffix.length));
    await filler.object(key, { ...about, body: bytes.subarray(lineEnd + 1) });
  }
}

const page = z.object({
  Items: z.array(z.unknown()),
  LastEvaluatedKey: z.optional(z.unknown()),
});

async function readTables(file: string, filler: Filler, announce: (sentence: string) => void): Promise<void> {
  const program = await findDynoxide(announce);
  const port = await freePort();
  const child = spawn(program, ['serve', '--host', loopback, '--port', String(port), '--db-path', file], {
    stdio: 'ignore',
    windowsHide: true,
  });
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => {
      resolve();
    });
    child.once('exit', () => {
      resolve();
    });
  });
  const scan = async (input: object): Promise<unknown> => {
    const answer = await fetch(`http://${loopback}:${port}`, {
      method: 'POST',
      headers: {
        authorization:
          'AWS4-HMAC-SHA256 Credential=local/20200101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-date': '20200101T000000Z',
        'x-amz-target': 'DynamoDB_20120810.Scan',
      },
      body: JSON.stringify(input),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new StageError(`The backup's database cannot be read: ${text}`);
    return jsonOrUndefined(text);
  };
  try {
    await Promise.race([started(() => scan({ TableName: allTables[0]?.name, Limit: 1 })), failed(ended)]);
    for (const { name } of allTables) {
      let ExclusiveStartKey: unknown;
      do {
        const read = page.parse(await scan({ TableName: name, Limit: rowsPerPage, ExclusiveStartKey }));
        for (const item of read.Items) await filler.row(name, checkedItem(textToBytes(item)));
        ExclusiveStartKey = read.LastEvaluatedKey;
      } while (ExclusiveStartKey !== undefined);
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** Without a limit the program would load a whole table into memory. */
const rowsPerPage = 1_000;
const startLimitMs = 60_000;
const askAgainAfterMs = 20;

async function started(ask: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + startLimitMs;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (error instanceof StageError || performance.now() > deadline) throw error;
      await setTimeout(askAgainAfterMs);
    }
  }
}

async function failed(ended: Promise<void>): Promise<never> {
  await ended;
  throw new StageError('The program that reads the backup ended early: the backup is damaged.');
}
