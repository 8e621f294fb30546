import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { changeAccount, makeAccount, manage, publishAs, type AccountRecord } from '../support/accounts.ts';
import { api, getMessage, ok, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { errorOf, messageIdOf, publish, refusalOf, type Answer } from '../support/publish.ts';
import { startReceiver, type Inbox, type Receiver } from '../support/receiver.ts';

/** A separate receiver, because a circuit belongs to a host. */
let receiver: Receiver;
let inbox: Inbox;
let status = 200;
let host = '';
beforeEach(async () => {
  receiver = await startReceiver();
  status = 200;
  inbox = receiver.inbox((_delivery, response) => response.writeHead(status).end());
  host = new URL(inbox.url).host;
});
afterEach(() => receiver.close());

const circuitShape = z.strictObject({
  host: z.string(),
  state: z.enum(['open', 'half-open', 'closing']),
  waiting: z.number(),
  inFlight: z.number(),
  openedAt: z.optional(z.number()),
  nextProbeAt: z.optional(z.number()),
  failures: z.number(),
  failedProbes: z.number(),
  lastStatus: z.number(),
  lastError: z.optional(z.string()),
});
const logPage = z.object({
  logs: z.array(z.looseObject({ messageId: z.string(), state: z.string(), retried: z.optional(z.number()) })),
});
type Owner = Pick<AccountRecord, 'token'>;
const list = async ({ token }: Owner) =>
  z.array(circuitShape).parse(await ok(api('GET', '/v2/circuits', { token })));
const close = ({ token }: Owner, of = host): Promise<Answer> =>
  api('POST', `/v2/circuits/${encodeURIComponent(of)}/close`, { token });

const send = async (owner: Owner, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
  messageIdOf(await publishAs(owner, inbox.url, { headers }));

/** Fails the first message twice, more than a second apart. */
async function openCircuit(owner: Owner): Promise<string> {
  status = 503;
  const id = await send(owner, { 'Svc-Retries': '5', 'Svc-Retry-Delay': '1500' });
  await eventually(
    () => list(owner),
    (all) => all.some((one) => one.host === host),
  );
  return id;
}

describe('the circuit of a host that is down', () => {
  it('is listed, holds messages back, and is closed by hand', async () => {
    const owner = await makeAccount({ circuit: { enabled: true, failures: 2, open_seconds: 600 } });
    const first = await openCircuit(owner);
    const failed = inbox.deliveries.length;
    const second = await send(owner, { 'Svc-Retries': '0' });
    const [shown] = await eventually(
      () => list(owner),
      ([one]) => one?.waiting === 2,
    );
    expect(shown).toMatchObject({ host, state: 'open', failures: 2, failedProbes: 0, lastStatus: 503 });
    expect((shown?.nextProbeAt ?? 0) - (shown?.openedAt ?? 0)).toBe(600_000);
    expect(inbox.deliveries).toHaveLength(failed);

    // The log and the list of messages both show the waiting message.
    const logged = async (id: string) => {
      const { logs } = logPage.parse(await ok(api('GET', `/v2/logs?messageId=${id}`, owner)));
      return logs.map(({ state, retried }) => (retried === undefined ? state : `${state} ${retried}`));
    };
    expect(
      await eventually(
        () => logged(second),
        (states) => states.length === 2,
      ),
    ).toEqual(['HELD 0', 'CREATED']);
    expect((await logged(first))[0]).toBe('HELD 2');
    const inAnyState = (id: string) => ok(api('GET', `/v2/messages/${id}?state=ALL`, owner));
    expect(await inAnyState(second)).toMatchObject({ heldBy: shown });
    // A message that only waits for its time is not held.
    const later = await send(owner, { 'Svc-Delay': '1h' });
    expect(await inAnyState(later)).not.toHaveProperty('heldBy');
    await ok(api('DELETE', `/v2/messages/${later}`, owner));
    const held = logPage.parse(await ok(api('GET', '/v2/logs?state=HELD', owner)));
    expect(held.logs.map(({ messageId }) => messageId).sort()).toEqual([first, second].sort());
    const { messages } = z
      .object({ messages: z.array(z.looseObject({ messageId: z.string(), state: z.string() })) })
      .parse(await ok(api('GET', '/v2/messages', owner)));
    expect(new Map(messages.map(({ messageId, state }) => [messageId, state]))).toEqual(
      new Map([
        [first, 'RETRY'],
        [second, 'CREATED'],
      ]),
    );

    // Another account does not see the circuit.
    expect(await list(await makeAccount({}))).toEqual([]);
    const readOnly = { token: owner.read_only_token };
    expect(await list(readOnly)).toHaveLength(1);
    expect(refusalOf(await close(readOnly)).code).toBe('token_read_only');

    status = 200;
    expect((await close(owner)).status).toBe(200);
    const all = await inbox.received(failed + 2);
    expect(new Set(all.slice(failed).map(({ headers }) => headers['svc-message-id']))).toEqual(
      new Set([first, second]),
    );
    await eventually(
      () => list(owner),
      (left) => left.length === 0,
    );
    expect(refusalOf(await close(owner)).code).toBe('circuit_not_found');
    expect(refusalOf(await close(owner, 'a'.repeat(3_000))).code).toBe('field_invalid');
  });
});

describe('the setting of circuits', () => {
  it('belongs to an account, and is refused with the allowed values', async () => {
    const account = await makeAccount({});
    expect(account).not.toHaveProperty('circuit');
    const circuit = { enabled: true, failures: 7, longest_wait_seconds: 3_600 };
    expect(await changeAccount(account.id, { circuit })).toMatchObject({ circuit });
    expect(await changeAccount(account.id, { circuit: null })).not.toHaveProperty('circuit');
    for (const wrong of [
      { enabled: true, failures: 1 },
      { enabled: true, longest_wait_seconds: 59 },
      { enabled: true, colour: 'red' },
    ]) {
      const answer = await manage('PATCH', `/v2/svc/users/${account.id}`, { body: { circuit: wrong } });
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toBe(
        `circuit is ${JSON.stringify(wrong)}; allowed is {"enabled": true or false, "failures"?: 2 to 1000, ` +
          '"open_seconds"?: 1 to 3600, "longest_open_seconds"?: 1 to 3600, "longest_wait_seconds"?: 60 to 604800}, ' +
          'in whole numbers, or null.',
      );
    }
  });

  it('belongs to a message or a queue', async () => {
    const delay = { 'Svc-Delay': '1h' };
    const circuitOf = async (answer: Answer): Promise<unknown> =>
      (await getMessage(messageIdOf(answer)))['circuit'];
    expect(await circuitOf(await publish(inbox.url, { headers: delay }))).toBeUndefined();
    const on = await publish(inbox.url, { headers: { ...delay, 'Svc-Circuit': 'ON' } });
    expect(await circuitOf(on)).toBe('on');
    const wrong = await publish(inbox.url, { headers: { 'Svc-Circuit': 'maybe' } });
    expect(errorOf(wrong)).toBe('Svc-Circuit is "maybe"; allowed are on and off.');

    const queueName = unique('queue');
    const put = (circuit: unknown): Promise<Answer> =>
      api('POST', '/v2/queues', { body: { queueName, circuit } });
    const shown = async (): Promise<unknown> =>
      z.looseObject({}).parse(await ok(api('GET', `/v2/queues/${queueName}`)))['circuit'];
    expect(errorOf(await put('maybe'))).toContain('"on", "off" or null as the circuit');
    await ok(put('on'));
    expect(await shown()).toBe('on');
    const enqueued = await api('POST', `/v2/enqueue/${queueName}/${inbox.url}`, { headers: delay });
    expect(await circuitOf(enqueued)).toBe('on');
    const own = await api('POST', `/v2/enqueue/${queueName}/${inbox.url}`, {
      headers: { ...delay, 'Svc-Circuit': 'off' },
    });
    expect(await circuitOf(own)).toBe('off');
    await ok(api('POST', '/v2/queues', { body: { queueName, parallelism: 2 } }));
    expect(await shown()).toBe('on');
    await ok(put(null));
    expect(await shown()).toBeUndefined();
  });
});
