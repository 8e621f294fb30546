/** The backup has messages with timers of seconds and hours, bodies of all sizes, a line, and a dead letter. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { restore } from '../../../../local/backup/backUp.ts';
import { checkEntries } from '../../../../local/check/entries.ts';
import { objectKeys, objectsIn } from '../../../../local/s3/objects.ts';
import { storedSchedules } from '../../../../local/scheduler/storedSchedules.ts';
import { storedMessages } from '../../../../local/sqs/storedMessages.ts';
import { openDataDirectory } from '../../../../local/stage/dataDirectory.ts';

const archive = join(import.meta.dirname, 'release-0.1.0.tar.gz');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-before-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

it('is restored with its rows, its jobs, its schedules and its bodies', async () => {
  const { format, entries } = await restore(archive, folder, () => undefined);
  expect(format).toBe(1);
  const data = await openDataDirectory(folder);
  const { store } = data;
  try {
    const { counts, problems } = checkEntries(store);
    expect(problems).toEqual([]);
    expect(counts).toMatchObject({
      'rows of messages': 11,
      'rows of dlq': 2,
      'rows of lanes': 2,
      'rows of schedules': 1,
      'rows of accounts': 1,
    });
    expect(entries).toBe(Object.values(counts).reduce((sum, count) => sum + count, 0));
    expect(data.secret('master-secret')).toHaveLength(43);
    // The messages with timers of a minute. The dead letter’s job is done, and messages in the line have none.
    expect([...storedMessages(store)].map(({ queue, receives }) => ({ queue, receives }))).toEqual(
      Array.from({ length: 4 }, () => ({ queue: 'long', receives: 0 })),
    );
    const expressions = [...storedSchedules(store)].map(({ settings }) => settings.ScheduleExpression);
    expect(expressions).toContainEqual(expect.stringMatching(/^at\(/));
    expect(expressions).toContainEqual('cron(0 0/3 * * ? *)');
    const [key = ''] = objectKeys(store);
    expect(objectsIn(store, Date.now).get(key)?.body).toHaveLength(12_000);
  } finally {
    await data.release();
  }
});
