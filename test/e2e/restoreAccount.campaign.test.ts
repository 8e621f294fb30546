import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readArchive } from '../../local/backup/archive.ts';
import { makeAccount, manage, type AccountRecord } from '../support/accounts.ts';
import { startSvcQueue, svcQueue, type Ran } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { call, messageIdOf, publish, service, type Answer } from '../support/publish.ts';
import type { Delivery, Inbox } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const hourMs = 3_600_000;
const localId = '00000000-0000-4000-8000-000000000001';
/** Stored in the message’s row, in its own row, and in S3. */
const sizes = [5, 3_000, 20_000];

/** Puts the names of objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, one]): [string, unknown] => [name, sorted(one)]);
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const hashesOf = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => `${createHash('sha256').update(line).digest('hex')} ${line.slice(0, 300)}`);

async function linesOf(file: string): Promise<readonly string[]> {
  const lines: string[] = [];
  await readArchive(createReadStream(file), {
    file: async (_name, content) => {
      for await (const _part of content);
    },
    line: (text) => {
      lines.push(JSON.stringify(sorted(JSON.parse(text))));
      return Promise.resolve();
    },
  });
  return lines.sort();
}

/** Random bytes as text, which cannot be compressed. */
const bodyOf = (size: number): string =>
  Array.from({ length: size }, () => String.fromCharCode(33 + Math.floor(Math.random() * 90))).join('');

describe.runIf(service.target === 'local')('one account of a backup', () => {
  const receiver = useReceiver();
  let folder = '';
  let stage: Stage;
  let accounts: AccountRecord[] = [];
  let inboxes: Inbox[] = [];
  const stages: Stage[] = [];
  const file = (): string => join(folder, 'backup.tgz');
  const start = async (options: Parameters<typeof startStage>[0]): Promise<Stage> => {
    const started = await startStage({ testControl: true, ...options });
    stages.push(started);
    return started;
  };
  const ask = (
    at: Stage,
    { token }: { readonly token: string },
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<Answer> =>
    call(
      path,
      {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body }),
      },
      at.url,
    );
  const restore = (into: string, id: string, from = file()): Promise<Ran> =>
    svcQueue(['restore', from, '--data-dir', into, '--account', id]);
  const backUp = async (of: string): Promise<readonly string[]> => {
    const to = join(folder, 'other.tgz');
    expect(await svcQueue(['backup', to, '--force', '--data-dir', of])).toMatchObject({ code: 0 });
    return linesOf(to);
  };

  /** Gives both accounts things with the same names. */
  async function fill(account: AccountRecord, inbox: Inbox): Promise<void> {
    const send = async (
      method: string,
      path: string,
      headers: Record<string, string> = {},
      body?: string,
    ): Promise<Answer> => {
      const answer = await ask(stage, account, method, path, headers, body);
      expect([path, answer.status < 300, answer.json]).toEqual([path, true, answer.json]);
      return answer;
    };
    const json = { 'content-type': 'application/json' };
    await send(
      'POST',
      `/v2/schedules/${inbox.url}`,
      { 'Svc-Cron': '0 * * * *', 'Svc-Schedule-Id': 'same' },
      bodyOf(3_000),
    );
    await send(
      'POST',
      '/v2/queues',
      json,
      JSON.stringify({ queueName: 'held', parallelism: 1, paused: true }),
    );
    await send(
      'POST',
      '/v2/topics/group/endpoints',
      json,
      JSON.stringify({ endpoints: [{ url: inbox.url }] }),
    );
    for (const size of sizes) await send('POST', `/v2/enqueue/held/${inbox.url}`, {}, bodyOf(size));
    for (const size of sizes)
      await send('POST', `/v2/publish/${inbox.url}`, { 'Svc-Delay': '2h' }, bodyOf(size));
    const debounced = { 'Svc-Debounce': '15m', 'Svc-Debounce-Id': 'same' };
    await send('POST', `/v2/publish/${inbox.url}`, debounced, bodyOf(3_000));
    const flow = {
      'Svc-Flow-Control-Key': 'same',
      'Svc-Flow-Control-Value': 'parallelism=1',
      'Svc-Delay': '1h',
    };
    await send('POST', `/v2/publish/${inbox.url}`, { ...flow, 'Svc-Deduplication-Id': 'same' });
    await send('POST', '/v2/publish/http://127.0.0.1:1/', { 'Svc-Retries': '0' }, bodyOf(3_000));
    await eventually(
      () => send('GET', '/v2/dlq'),
      ({ json: page }) => JSON.stringify(page).includes('127.0.0.1:1'),
    );
    const { management } = stage;
    await manage('POST', `/v2/svc/users/${account.id}/tokens`, {
      management,
      body: { name: '東京', scope: 'read' },
    });
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-account-'));
    stage = await start({});
    accounts = await Promise.all([
      makeAccount({ region: 'eu-central-1', type: 'paid' }, stage.management),
      makeAccount({ region: 'eu-central-1', type: 'paid' }, stage.management),
    ]);
    inboxes = accounts.map(() => receiver.inbox());
    for (const [at, account] of accounts.entries()) await fill(account, inboxes[at] ?? receiver.inbox());
    expect(await svcQueue(['backup', file(), '--data-dir', stage.dataDir])).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    for (const one of stages) await one.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('replaces what a stopped stage has of it, and no other account’s, and is delivered then', async () => {
    const [one, other] = accounts;
    const [inbox, otherInbox] = inboxes;
    if (!one || !other || !inbox || !otherInbox) throw new Error('There are no accounts.');
    const inUse = await restore(stage.dataDir, one.id);
    expect([inUse.code, inUse.output]).toEqual([
      2,
      expect.stringMatching(/^A local stage \(process \d+\) already uses /),
    ]);
    await ask(stage, one, 'DELETE', '/v2/schedules/same');
    await ask(stage, one, 'DELETE', '/v2/queues/held');
    await ask(stage, one, 'DELETE', '/v2/topics/group');
    const [lost, since] = [receiver.inbox(), receiver.inbox()];
    messageIdOf(
      await publish(lost.url, {
        ...stage,
        token: one.token,
        headers: { 'Svc-Delay': '1h' },
        body: bodyOf(3_000),
      }),
    );
    messageIdOf(
      await publish(since.url, {
        ...stage,
        token: other.token,
        headers: { 'Svc-Delay': '1h' },
        body: bodyOf(20_000),
      }),
    );
    await manage('POST', `/v2/svc/rotate-token/${one.id}`, { management: stage.management });
    await stage.stop();

    const before = await backUp(stage.dataDir);
    const made = await linesOf(file());
    const done = await restore(stage.dataDir, one.id);
    expect([done.code, done.output]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^\\S+ has the \\d+ entries of the account ${one.id} of the backup of 20`),
      ),
    ]);
    expect(await svcQueue(['check', '--data-dir', stage.dataDir])).toMatchObject({ code: 0 });
    const after = await backUp(stage.dataDir);
    const of = (lines: readonly string[], { id }: AccountRecord) =>
      hashesOf(lines.filter((line) => line.includes(id)));
    expect(of(after, one)).toEqual(of(made, one));
    expect(of(after, other)).toEqual(of(before, other));
    expect(await restore(stage.dataDir, one.id)).toMatchObject({ code: 0 });
    expect(hashesOf(await backUp(stage.dataDir))).toEqual(hashesOf(after));
    // Rows of bodies and debounced messages name no account.
    const unnamed = (lines: readonly string[]) =>
      hashesOf(
        lines.filter(
          (line) =>
            ![...accounts.map(({ id }) => id), '"owner"', localId].some((text) => line.includes(text)),
        ),
      );
    expect(unnamed(after)).toEqual(unnamed(made));
    expect(unnamed(before)).not.toEqual(unnamed(made));

    const again = await start({ dataDir: stage.dataDir });
    expect((await ask(again, one, 'GET', '/v2/schedules/same')).status).toBe(200);
    for (const account of accounts) await ask(again, account, 'POST', '/v2/queues/held/resume');
    await again.advance(2.5 * hourMs);
    const isOfSchedule = ({ headers }: Delivery): boolean => headers['svc-schedule-id'] === 'same';
    for (const received of inboxes) {
      // Messages of the queue and the key, the delayed and the debounced one arrive; and at each full hour
      // the schedule's.
      await received.until((all) => {
        const fires = all.filter(isOfSchedule).length;
        return fires >= 2 && all.length - fires >= 3 + 3 + 1 + 1;
      });
      const others = received.deliveries.filter((delivery) => !isOfSchedule(delivery));
      const lengths = others.map(({ body }) => body.length).sort((a, b) => a - b);
      expect(lengths).toEqual([0, 5, 5, 3_000, 3_000, 3_000, 20_000, 20_000]);
      expect(received.deliveries.filter(isOfSchedule).every(({ body }) => body.length === 3_000)).toBe(true);
    }
    await since.received(1);
    expect(lost.deliveries).toEqual([]);
    await again.stop();
  });

  it('is not there, or whole, after a kill, and can be restored again', async () => {
    const [one] = accounts;
    const dataDir = join(folder, 'killed');
    expect(await svcQueue(['restore', file(), '--data-dir', dataDir])).toMatchObject({ code: 0 });
    const made = hashesOf(await backUp(dataDir));
    const args = ['restore', file(), '--data-dir', dataDir, '--account', one?.id ?? ''];
    for (const name of ['lock', 'restoring-account', 'store.mdb']) {
      const restoring = startSvcQueue(args);
      const watcher = watch(dataDir, (_event, changed) => {
        if (changed === name) void restoring.kill();
      });
      await restoring.ended;
      watcher.close();
      expect(hashesOf(await backUp(dataDir))).toEqual(made);
    }
    expect(existsSync(join(dataDir, 'restoring-account'))).toBe(false);
    expect(await restore(dataDir, one?.id ?? '')).toMatchObject({ code: 0 });
    expect(hashesOf(await backUp(dataDir))).toEqual(made);
  });

  it('can be the only one of an empty folder', async () => {
    const [, other] = accounts;
    const dataDir = join(folder, '東京');
    expect(await restore(dataDir, other?.id ?? '')).toMatchObject({ code: 0 });
    expect(await svcQueue(['check', '--data-dir', dataDir])).toMatchObject({ code: 0 });
    const lines = (await backUp(dataDir)).filter((line) => line.includes(accounts[0]?.id ?? ''));
    expect(lines).toEqual([]);
    const paused = await start({ dataDir, args: ['--paused'] });
    const started = { ...other, token: other?.token ?? '' };
    expect((await ask(paused, started, 'GET', '/v2/schedules/same')).status).toBe(200);
    await paused.stop();
  });

  it('is refused if the backup does not have it, is damaged, or has another master secret', async () => {
    const [one] = accounts;
    const id = one?.id ?? '';
    const target = join(folder, 'target');
    const unknown = '00000000-0000-4000-8000-00000000abcd';
    const refused = await restore(target, unknown);
    expect([refused.code, refused.output]).toEqual([
      2,
      expect.stringMatching(new RegExp(`^The backup has no account ${unknown}; it has .*${id}.*\\.\n$`)),
    ]);
    const torn = join(folder, 'torn');
    writeFileSync(torn, readFileSync(file()).subarray(0, 5_000));
    expect((await restore(target, id, torn)).output).toMatch(/^The backup is (damaged or )?not whole/);
    expect((await restore(target, 'x')).output).toMatch(/Allowed is the id of an account, a UUID/);
    // All of it can still be restored there.
    expect((await svcQueue(['restore', file(), '--data-dir', target])).code).toBe(0);
    writeFileSync(join(target, 'master-secret'), 'x'.repeat(43));
    const before = await backUp(target);
    const foreign = await restore(target, id);
    expect([foreign.code, foreign.output]).toEqual([
      2,
      expect.stringMatching(/^The backup is from a stage with another master-secret/),
    ]);
    expect(hashesOf(await backUp(target))).toEqual(hashesOf(before));
  });
});
