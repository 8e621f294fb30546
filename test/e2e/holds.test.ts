import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, manage, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf, refusalOf, service, type Answer } from '../support/publish.ts';
import { startReceiver, type Inbox, type Receiver } from '../support/receiver.ts';
import { expectRefusal } from '../support/refusals.ts';
import { startStage, type Stage } from '../support/stage.ts';

/** A separate receiver, because a hold concerns a host. */
let receiver: Receiver;
let inbox: Inbox;
let host = '';
let owner: AccountRecord;
beforeEach(async () => {
  receiver = await startReceiver();
  inbox = receiver.inbox();
  host = new URL(inbox.url).host;
  owner = await makeAccount();
});
afterEach(() => receiver.close());

const holdShape = z.looseObject({
  kind: z.string(),
  name: z.optional(z.string()),
  by: z.string(),
  since: z.number(),
  waiting: z.number(),
});
interface At {
  readonly token: string;
  readonly url?: string;
}
const listed = async (at: At = owner) => z.array(holdShape).parse(await ok(api('GET', '/v2/holds', at)));
const post = (path: string, body?: unknown, at: At = owner): Promise<Answer> =>
  api('POST', path, { ...at, body });
const ofHost = (act: 'hold' | 'release', of = host) => `/v2/hosts/${encodeURIComponent(of)}/${act}`;
const ofLabel = (act: 'hold' | 'release', of: string) => `/v2/labels/${encodeURIComponent(of)}/${act}`;

const send = async (to = inbox.url, headers: Readonly<Record<string, string>> = {}) =>
  messageIdOf(await publishAs(owner, to, { headers: { 'Svc-Retries': '0', ...headers } }));
const waitingAre = (number: number, at: At = owner) =>
  eventually(
    () => listed(at),
    (all) => all.reduce((sum, { waiting }) => sum + waiting, 0) === number,
  );
const idsIn = ({ deliveries }: Inbox) => deliveries.map(({ headers }) => headers['svc-message-id']);

describe('a hold', () => {
  it('of a host is listed with who and why, and shown with its messages, until it is released', async () => {
    const held = await post(ofHost('hold', host.toUpperCase()), {
      reason: '東京 is being moved',
      duration: '2h',
    });
    checkAnswer('POST /v2/hosts/{host}/hold', held);
    expect(held.status).toBe(200);
    const first = await send();
    const second = await send();
    const [hold] = await waitingAre(2);
    const since = hold?.since ?? 0;
    expect(hold).toEqual({
      kind: 'host',
      name: host,
      by: 'token',
      since,
      reason: '東京 is being moved',
      until: expect.any(Number) as number,
      waiting: 2,
    });
    expect(Number(hold?.['until']) - since).toBeGreaterThan(7_190_000);
    checkAnswer('GET /v2/holds', await api('GET', '/v2/holds', owner));
    const shown = async (id: string) =>
      z.looseObject({}).parse(await ok(api('GET', `/v2/messages/${id}?state=ALL`, owner)));
    expect(
      await eventually(
        () => shown(first),
        (message) => 'holds' in message,
      ),
    ).toMatchObject({
      state: 'CREATED',
      holds: [{ kind: 'host', name: host }],
    });
    expect(await listed({ token: (await makeAccount()).token })).toEqual([]);

    // Held messages can be changed, moved, cancelled and published again.
    const changed = await api('PATCH', `/v2/messages/${second}`, { ...owner, body: { label: 'new' } });
    expect(changed.status).toBe(200);
    const third = await send();
    await waitingAre(3);
    await ok(api('DELETE', `/v2/messages/${third}`, owner));
    const moved = await send();
    await waitingAre(4);
    await ok(api('PATCH', `/v2/messages/${moved}`, { ...owner, body: { delay: '1s' } }));
    expect(inbox.deliveries).toEqual([]);

    const released = await post(ofHost('release'));
    checkAnswer('POST /v2/hosts/{host}/release', released);
    expect(released.status).toBe(200);
    await inbox.until(() => idsIn(inbox).includes(moved));
    expect(idsIn(inbox)[0]).toBe(first);
    expect(new Set(idsIn(inbox))).toEqual(new Set([first, second, moved]));
    expect(await listed()).toEqual([]);
    expect(refusalOf(await post(ofHost('release'))).code).toBe('hold_not_found');

    const trail = z
      .object({ entries: z.array(z.looseObject({ action: z.string(), subject: z.optional(z.string()) })) })
      .parse(await ok(api('GET', `/v2/audit?action=host.hold,host.release`, owner)));
    expect(trail.entries.map(({ action, changes }) => ({ action, changes }))).toMatchObject([
      {
        action: 'host.release',
        changes: expect.arrayContaining([{ field: 'held', before: 'true', after: 'false' }]) as unknown,
      },
      {
        action: 'host.hold',
        changes: expect.arrayContaining([{ field: 'reason', after: '東京 is being moved' }]) as unknown,
      },
    ]);
  });

  it('of a label, a URL group or the account holds their messages only', async () => {
    const other = receiver.inbox();
    const label = '東京/1 &';
    const name = unique('group');
    await ok(
      api('POST', `/v2/topics/${name}/endpoints`, { ...owner, body: { endpoints: [{ url: inbox.url }] } }),
    );
    await ok(post(ofLabel('hold', label)));
    await ok(post(`/v2/topics/${name}/hold`, { reason: 'one after another' }));
    const labelled = await send(other.url, { 'Svc-Label': encodeURIComponent('x') });
    await other.received(1);
    const [toGroup] = z
      .array(z.object({ messageId: z.string() }))
      .parse(await ok(publishAs(owner, name, { headers: { 'Svc-Retries': '0' } })));
    const ofBoth = z.object({ messageId: z.string() }).parse(
      await ok(
        api('POST', '/v2/batch', {
          ...owner,
          body: [{ destination: inbox.url, headers: { 'Svc-Label': `other,${label}` } }],
        }).then((answer) => ({ ...answer, json: z.array(z.unknown()).parse(answer.json)[0] })),
      ),
    ).messageId;
    await waitingAre(2);
    expect(idsIn(other)).toEqual([labelled]);
    // A deleted group’s hold is released as well.
    await ok(api('DELETE', `/v2/topics/${name}`, owner));
    expect(refusalOf(await post(`/v2/topics/${name}/hold`)).code).toBe('url_group_not_found');
    await ok(post(`/v2/topics/${name}/release`));
    await inbox.received(1);
    expect(idsIn(inbox)).toEqual([toGroup?.messageId]);
    await ok(post(ofLabel('release', label)));
    await inbox.received(2);
    expect(idsIn(inbox)[1]).toBe(ofBoth);

    // A worker knows an account for ten seconds.
    owner = await makeAccount();
    await ok(post('/v2/hold', { reason: 'x'.repeat(200) }));
    await send();
    const [all] = await waitingAre(1);
    expect(all).toMatchObject({ kind: 'account', reason: 'x'.repeat(200) });
    expect(all).not.toHaveProperty('name');
    await ok(post('/v2/release'));
    await inbox.received(3);
  });

  it('needs a token that may change everything, and a reason, an end and a name of the given forms', async () => {
    const seconds = Math.floor(Date.now() / 1_000);
    for (const [path, body, says] of [
      [ofHost('hold'), { reason: '' }, 'reason: it is not 1 to 200 printable characters'],
      [ofHost('hold'), { reason: 'x'.repeat(201) }, 'reason: it is not 1 to 200 printable characters'],
      [ofHost('hold'), { reason: 'a\nb' }, 'reason: it is not 1 to 200 printable characters'],
      [ofHost('hold'), { duration: '2' }, 'duration is "2"; allowed is a whole number and a unit'],
      [ofHost('hold'), { duration: '0s' }, 'duration is "0s"; allowed is more than 0s and at most 365d.'],
      [ofHost('hold'), { duration: '366d' }, 'duration is "366d"'],
      [ofHost('hold'), { until: seconds - 1 }, 'later than now and at most 365 days from now'],
      [ofHost('hold'), { until: Date.now() }, 'until is'],
      [ofHost('hold'), { until: seconds + 60, duration: '1h' }, 'duration and until are both given'],
      [ofHost('hold'), { because: 'x' }, 'because'],
      [ofHost('hold', 'example.com/x'), {}, 'The host is "example.com/x"'],
      [ofHost('hold', 'user@example.com'), {}, 'The host is "user@example.com"'],
      [ofHost('hold', 'a'.repeat(400)), {}, 'The host is'],
      [ofHost('hold', '%'), {}, 'The host is "%"'],
      [ofLabel('hold', 'a,b'), {}, 'The label is "a,b"; allowed are 1 to 100 characters without a comma.'],
      [ofLabel('hold', '東'.repeat(101)), {}, 'The label is'],
      ['/v2/topics/or%20ders/hold', {}, 'The name of the URL group'],
    ] as const) {
      await expectRefusal(post(path, body), 400, says);
    }
    const made = async (scope: string) =>
      z
        .object({ token: z.string() })
        .parse(
          await ok(manage('POST', `/v2/svc/users/${owner.id}/tokens`, { body: { name: scope, scope } }), 201),
        ).token;
    for (const token of [owner.read_only_token, await made('read'), await made('publish')]) {
      for (const path of [
        ofHost('hold'),
        ofLabel('hold', 'x'),
        '/v2/hold',
        '/v2/release',
        '/v2/topics/x/hold',
      ]) {
        expect((await post(path, {}, { token })).status).toBe(403);
      }
    }
    expect(await listed()).toEqual([]);
    await ok(
      post(
        ofHost('hold', 'EXAMPLE.com:443'),
        { until: String(seconds + 3_600) },
        { token: await made('full') },
      ),
    );
    const [hold] = await listed();
    expect(hold).toMatchObject({ name: 'example.com', until: (seconds + 3_600) * 1_000 });
    expect(hold?.by).not.toBe('token');
    for (let number = 1; number < 100; number += 1) await ok(post(ofLabel('hold', `label ${number}`)));
    expect(refusalOf(await post(ofLabel('hold', 'one more'))).code).toBe('hold_limit_reached');
    // Those that are there may still be changed, and make room when they are released.
    await ok(post(ofLabel('hold', 'label 1'), { reason: 'again' }));
    await ok(post(ofLabel('release', 'label 1')));
    await ok(post(ofLabel('hold', 'one more')));
    expect(await listed()).toHaveLength(100);
  });
});

describe.runIf(service.target === 'local')('a hold on a machine', () => {
  let stage: Stage;
  const begin = async () => {
    stage = await startStage({ testControl: true });
    return { token: stage.token, url: stage.url };
  };
  afterEach(() => stage.remove());
  const publish = (at: At, count: number) =>
    Promise.all(
      Array.from({ length: count }, () =>
        api('POST', `/v2/publish/${inbox.url}`, { ...at, headers: { 'Svc-Retries': '0' } }),
      ),
    );

  it('ends by itself although no process runs, and after the clock has stepped back', async () => {
    const at = await begin();
    await stage.step(-3_600_000);
    await ok(post(ofHost('hold'), { duration: '30m' }, at));
    await publish(at, 3);
    await waitingAre(3, at);
    await stage.kill();
    // A new process has real time again.
    stage = await startStage({ dataDir: stage.dataDir, testControl: true });
    await inbox.received(3);

    const after = { token: stage.token, url: stage.url };
    await ok(post(ofHost('hold'), { duration: '1m' }, after));
    await stage.advance(11_000);
    await publish(after, 2);
    await waitingAre(2, after);
    await stage.step(-3_600_000);
    await stage.advance(3_600_000);
    expect(inbox.deliveries).toHaveLength(3);
    await stage.advance(120_000);
    await inbox.received(5);
  });

  it('lasts over a kill, and what waits is released after it', async () => {
    const at = await begin();
    await ok(post('/v2/hold', {}, at));
    await publish(at, 40);
    await waitingAre(40, at);
    await stage.kill();
    stage = await startStage({ dataDir: stage.dataDir, testControl: true });
    const after = { token: stage.token, url: stage.url };
    await publish(after, 1);
    await waitingAre(41, after);
    expect(inbox.deliveries).toEqual([]);
    await Promise.all([post('/v2/release', undefined, after).catch(() => undefined), stage.kill()]);
    stage = await startStage({ dataDir: stage.dataDir, testControl: true });
    const last = { token: stage.token, url: stage.url };
    const answer = await post('/v2/release', undefined, last);
    expect([200, 404]).toContain(answer.status);
    await inbox.until(() => new Set(idsIn(inbox)).size === 41);
  });
});
