import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { startAgent } from '../support/agent.ts';
import { api, makeToken, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { groupName } from '../support/groups.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
type Agent = Awaited<ReturnType<typeof startAgent>>;
let reader: Agent;
let writer: Agent;
beforeAll(async () => {
  [reader, writer] = await Promise.all([startAgent(), startAgent({ args: ['--write'], agrees: true })]);
});
afterAll(() => Promise.all([reader.close(), writer.close()]));

const explained = z.object({
  why: z.array(z.string()),
  message: z.looseObject({ messageId: z.string(), state: z.string(), dlqId: z.optional(z.string()) }),
  log: z.array(z.looseObject({ state: z.string(), responseBody: z.optional(z.string()) })),
});
const deadLetters = z.object({ messages: z.array(z.object({ dlqId: z.string() })) });
const failures = z.object({ deadLetters: z.object({ count: z.number() }) });
const anything = z.unknown();
type Values = Readonly<Record<string, unknown>>;
const write = (operation: string, values: Values) =>
  writer.get(anything, 'writeOperation', { operation, values });
const read = async (operation: string, values: Values) =>
  (await reader.use('readOperation', { operation, values })).text;

/** A destination that is broken until it is repaired. */
function brokenInbox() {
  const state = { isBroken: true };
  const inbox = receiver.inbox((_delivery, response) => {
    response.writeHead(state.isBroken ? 500 : 200).end('Error: out of stock');
  });
  return { inbox, repair: () => (state.isBroken = false) };
}

const inState = (agent: Agent, given: Readonly<Record<string, string>>, state: string) =>
  eventually(
    () => agent.get(explained, 'explainMessage', given),
    ({ message }) => message.state === state,
  );

/** Waits until so many messages with a label are dead letters: their log may say so a moment before. */
const failed = (label: string, count: number) =>
  eventually(
    () => reader.get(failures, 'countFailures', { label }),
    ({ deadLetters: { count: now } }) => now === count,
  );

describe('an agent', () => {
  it('finds out why an order did not arrive, and sends it again', async () => {
    const { inbox, repair } = brokenInbox();
    const label = unique('order');
    await publish(inbox.url, { body: '{"id":7}', headers: { 'Svc-Label': label, 'Svc-Retries': '0' } });
    await failed(label, 1);
    const { why, message, log } = await inState(reader, { label }, 'FAILED');
    expect(why[0]).toBe(
      `Its last attempt failed: the log has the answer. Its dead letter is ${message.dlqId ?? ''}.`,
    );
    expect(log.find(({ state }) => state === 'ERROR')?.responseBody).toBe('Error: out of stock');
    repair();
    const sent = await writer.get(z.object({ messageId: z.string() }), 'retryDeadLetter', {
      dlqId: message.dlqId,
    });
    await inState(reader, { messageId: sent.messageId }, 'DELIVERED');
  });

  it('sees who is hit by a host that is down, holds its deliveries, releases them, and retries what failed', async () => {
    const { inbox, repair } = brokenInbox();
    const { host } = new URL(inbox.url);
    const label = unique('hit');
    await publish(inbox.url, { headers: { 'Svc-Label': label, 'Svc-Retries': '0' } });
    await failed(label, 1);
    await writer.get(anything, 'holdLabel', { label, reason: 'It is being moved.', duration: '2h' });
    await publish(inbox.url, { headers: { 'Svc-Label': label } });
    expect(await read('listHolds', {})).toContain(`"name":"${label}"`);
    repair();
    await writer.get(anything, 'releaseLabel', { label });
    await writer.get(anything, 'retryDeadLetters', { label, host });
    expect(writer.questions.at(-1)).toMatch(/^Send many dead letters again\?\nPOST \/v2\/dlq\/retry\?label=/);
    await inbox.received(3);
    await failed(label, 0);
  });

  it('reads the trail of a leaked token, and revokes the token, but gets no secret', async () => {
    const { id, token } = await makeToken({ scope: 'read' });
    expect(await read('readAudit', { count: 5 })).toContain(id);
    for (const operation of ['getSigningKeys', 'createOwnToken', 'rotateSigningKeys'])
      expect(await writer.use('writeOperation', { operation })).toEqual({
        isError: true,
        text: `${operation} answers with a secret, which is not for agents; a person does it.`,
      });
    await write('revokeOwnToken', { tokenId: id });
    await eventually(
      () => api('GET', '/v2/queues', { token }),
      ({ status }) => status === 401,
    );
  });

  it('runs a nightly job by hand, looks at its fires and next times, and pauses it', async () => {
    const inbox = receiver.inbox();
    const schedule = unique('nightly');
    await write('createSchedule', {
      schedule: inbox.url,
      cron: 'CRON_TZ=Europe/Berlin 15 3 * * *',
      'schedule-id': schedule,
      body: { kind: 'daily' },
    });
    const found = await reader.get(z.array(z.object({ id: z.string() })), 'findOperations', {
      words: 'schedule',
    });
    expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(['listScheduleFires', 'listNextFires']));
    await write('runSchedule', { schedule });
    expect(String((await inbox.received(1))[0]?.body)).toBe('{"kind":"daily"}');
    expect(await read('listNextFires', { schedule, count: 3 })).toContain('03:15');
    await write('pauseSchedule', { schedule });
    expect(await read('getSchedule', { schedule })).toContain('"isPaused":true');
    await write('deleteSchedule', { schedule });
  });

  it('adds a customer of webhooks, publishes an event, and sends failed ones again', async () => {
    const { inbox, repair } = brokenInbox();
    const name = groupName();
    await write('addEndpoints', { name, endpoints: [{ url: inbox.url }] });
    await writer.get(anything, 'publishMessage', {
      destination: name,
      body: { id: 3 },
      label: name,
      retries: 0,
    });
    const { messages } = await eventually(
      () => reader.get(deadLetters, 'listDeadLetters', { label: name }),
      ({ messages: { length } }) => length === 1,
    );
    repair();
    await writer.get(anything, 'retryDeadLetter', { dlqId: messages[0]?.dlqId });
    expect(String((await inbox.received(2))[1]?.body)).toBe('{"id":3}');
  });
});

describe('svc-queue mcp', () => {
  it('has only tools that read, unless it may write, and marks the others', async () => {
    const tools = await reader.tools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    const more = (await writer.tools()).filter(({ name }) => !tools.some((one) => one.name === name));
    expect(more.map(({ name }) => name)).toContain('publishMessage');
    expect(more.filter(({ annotations }) => annotations?.readOnlyHint !== false)).toEqual([]);
    expect(
      more.filter(({ annotations }) => annotations?.destructiveHint === true).map(({ name }) => name),
    ).toEqual(['retryDeadLetters', 'writeOperation']);
    expect((await reader.use('publishMessage', { destination: 'orders' })).text).toBe(
      'There is no tool publishMessage; without --write there are only tools that read.',
    );
    expect(await read('deleteDeadLetters', {})).toBe(
      'deleteDeadLetters changes something; readOperation only reads.',
    );
  });

  it('does nothing that a person has to agree to if the person does not, or cannot be asked', async () => {
    const label = unique('kept');
    const deletion = { operation: 'cancelMessages', values: { label } };
    messageIdOf(await publish(receiver.inbox().url, { headers: { 'Svc-Label': label, 'Svc-Delay': '1h' } }));
    const [refusing, mute] = await Promise.all([
      startAgent({ args: ['--write'], agrees: false }),
      startAgent({ args: ['--write'] }),
    ]);
    expect((await refusing.use('writeOperation', deletion)).text).toBe('The person did not agree.');
    expect((await mute.use('writeOperation', deletion)).text).toMatch(
      /^A person has to agree to this, and this client cannot ask/,
    );
    await Promise.all([refusing.close(), mute.close()]);
    await inState(reader, { label }, 'CREATED');
    await writer.get(anything, 'writeOperation', deletion);
    await inState(reader, { label }, 'CANCELED');
  });

  it('shows the sentence of a refusal: by the token’s scope, for a field, and for nothing found', async () => {
    const { token } = await makeToken({ scope: 'read' });
    const limited = await startAgent({ args: ['--write'], token });
    const refused = await limited.use('publishMessage', { destination: receiver.inbox().url });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain(`${service.url} answered 403: `);
    await limited.close();
    expect((await reader.use('listMessages', { labels: 'a' })).text).toMatch(
      /^labels is not a field of listMessages; allowed are /,
    );
    expect((await reader.use('explainMessage', { label: unique('none') })).text).toMatch(
      /^No message matches\. /,
    );
  });
});
