import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { accountIdOf, changeAccount, makeAccount } from '../support/accounts.ts';
import { api, deadLettered, logged, unique } from '../support/api.ts';
import { openAwsReceivers, type AwsReceiver } from '../support/awsReceivers.ts';
import { Refused, startAwsService, type Arrived } from '../support/awsServices.ts';
import { eventually } from '../support/eventually.ts';
import { messageIdOf, publish, refusalOf, service, type Answer } from '../support/publish.ts';
import { startStage, type Stage } from '../support/stage.ts';

/** AWS is on this machine, or in the account of a deployment. */

/** A received message, and the receiver’s answer to it. */
const arrived: Arrived[] = [];
let refuse: (one: Arrived) => Refused | undefined = () => undefined;

let stage: Stage;
const started: Awaited<ReturnType<typeof startAwsService>>[] = [];

const arnOf = (service: string, resource: string) =>
  `arn:aws:${service}:eu-central-1:123456789012:${resource}`;
const urlOf = (queue: string) => `https://sqs.eu-central-1.amazonaws.com/123456789012/${queue}`;

const send = async (destination: string, headers: Record<string, string> = {}, body = 'work') =>
  publish(destination, { headers, body, token: stage.token, url: stage.url });
const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
  api(method, path, { token: stage.token, url: stage.url, ...(body !== undefined && { body }) });

const page = (list: 'logs' | 'messages') => z.object({ [list]: z.array(z.looseObject({})) });
const found = async (path: string, list: 'logs' | 'messages') =>
  eventually(
    async () => page(list).parse((await call('GET', path)).json)[list] ?? [],
    (entries) => entries.length > 0,
  );
const delivered = (messageId: string) => found(`/v2/logs?messageId=${messageId}&state=DELIVERED`, 'logs');
const deadLetterOf = async (messageId: string) =>
  (await found(`/v2/dlq?messageId=${messageId}`, 'messages'))[0];
const at = (to: string): readonly Arrived[] => arrived.filter((one) => one.to === to);
const received = (to: string, count = 1) =>
  eventually(
    () => Promise.resolve(at(to)),
    (all) => all.length >= count,
  );

describe.runIf(service.target === 'local')('with a separate stage', () => {
  beforeAll(async () => {
    for (const name of ['sqs', 'sns', 'events'] as const)
      started.push(
        await startAwsService(name, (one) => {
          const refusal = refuse(one);
          if (refusal !== undefined) throw refusal;
          arrived.push(one);
        }),
      );
    const [sqs, sns, events] = started;
    stage = await startStage({
      env: {
        AWS_ENDPOINT_URL_SQS: sqs?.url ?? '',
        AWS_ENDPOINT_URL_SNS: sns?.url ?? '',
        AWS_ENDPOINT_URL_EVENTBRIDGE: events?.url ?? '',
      },
    });
  });
  afterAll(async () => {
    await stage.stop();
    await stage.remove();
    for (const one of started) await one.close();
  });

  it('a message arrives in a queue, with the headers of a delivery and its forwarded headers', async () => {
    const queue = unique('orders');
    const destination = arnOf('sqs', queue);
    const headers = { 'Content-Type': 'application/json', 'Svc-Forward-X-Tenant': 'acme' };
    const messageId = messageIdOf(await send(destination, headers, '{"id":7}'));
    const [message] = await received(urlOf(queue));
    expect(message).toMatchObject({
      text: '{"id":7}',
      attributes: {
        'svc-message-id': messageId,
        'content-type': 'application/json',
        'x-tenant': 'acme',
      },
      groupId: undefined,
    });
    const others = z
      .record(z.string(), z.string())
      .parse(JSON.parse(message?.attributes['svc-headers'] ?? ''));
    expect(others).toMatchObject({ 'svc-retried': '0', 'svc-region': 'eu-central-1' });
    const [, payload = ''] = (others['svc-signature'] ?? '').split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ sub: destination });
    const [entry] = await delivered(messageId);
    expect(entry).toMatchObject({ url: destination, responseStatus: 200 });
  });

  it('a queue, a topic and a bus get headers as text', async () => {
    const [queue, topic] = [unique('orders'), arnOf('sns', unique('orders'))];
    const bus = arnOf('events', `event-bus/${unique('orders')}`);
    // curl sends these bytes for 東京 é. SQS refuses the last character, in an attribute and in a body.
    const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
    const headers = {
      'Svc-Forward-X-City': utf8('東京 é'),
      'Svc-Forward-X-Old': 'caf\xe9',
      'Svc-Forward-X-Odd': utf8('a\uffff'),
      'Svc-Forward-Source': utf8('com.東京'),
    };
    for (const to of [arnOf('sqs', queue), topic, bus]) messageIdOf(await send(to, headers));
    for (const to of [urlOf(queue), topic]) {
      const [message] = await received(to);
      expect(message?.attributes).toMatchObject({ 'x-city': '東京 é', 'x-old': 'café' });
      expect(message?.attributes['svc-headers']).not.toContain('\uffff');
      expect(JSON.parse(message?.attributes['svc-headers'] ?? '')).toMatchObject({ 'x-odd': 'a\uffff' });
    }
    const [event] = await received(bus);
    expect(event?.source).toBe('com.東京');
    expect(JSON.parse(event?.text ?? '')).toMatchObject({ headers: { 'x-city': '東京 é', 'x-old': 'café' } });
  });

  it('a FIFO queue gets the ids of its messages, in the group of their queue', async () => {
    const queue = `${unique('orders')}.fifo`;
    const path = `/v2/enqueue/mail/${arnOf('sqs', queue)}`;
    const messageId = messageIdOf(await api('POST', path, { token: stage.token, url: stage.url, body: 1 }));
    expect(await received(urlOf(queue))).toMatchObject([{ groupId: 'mail', deduplicationId: messageId }]);
  });

  it('a topic and a bus get messages by percent-encoded ARNs, a batch, a URL group and a callback', async () => {
    const topic = arnOf('sns', unique('orders'));
    const bus = arnOf('events', `event-bus/${unique('orders')}`);
    messageIdOf(await send(encodeURIComponent(topic), {}, 'encoded'));
    const batch = await call('POST', '/v2/batch', [{ destination: topic, body: 'batch' }]);
    expect(batch.status).toBe(200);
    const group = unique('group');
    const endpoints = [{ url: bus, name: 'bus' }];
    expect((await call('POST', `/v2/topics/${group}/endpoints`, { endpoints })).status).toBe(200);
    const event = { 'Svc-Forward-Source': 'com.example', 'Svc-Forward-Detail-Type': 'Placed' };
    expect((await send(group, event, '{"id":7}')).status).toBe(200);
    const sourceMessageId = messageIdOf(await send(topic, { 'Svc-Callback': bus }, 'called'));

    const texts = (await received(topic, 3)).map(({ text }) => text);
    expect(texts.sort()).toEqual(['batch', 'called', 'encoded']);
    const events = await received(bus, 2);
    const details = events.map(({ text }): unknown => JSON.parse(text));
    const told = z
      .array(z.object({ body: z.object({ body: z.optional(z.string()) }) }))
      .parse(details)
      .find(({ body }) => body.body !== undefined);
    // The body of the answer is the id that AWS gave the message.
    expect(Buffer.from(told?.body.body ?? '', 'base64').toString()).toMatch(
      /^\{"MessageId":"[0-9a-f-]{36}"\}$/,
    );
    expect(details).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ body: { id: 7 } }),
        expect.objectContaining({
          body: expect.objectContaining({ sourceMessageId, status: 200 }) as unknown,
        }),
      ]),
    );
    expect(events.map(({ source, detailType }) => [source, detailType])).toEqual(
      expect.arrayContaining([
        ['com.example', 'Placed'],
        ['svc-queue', 'message'],
      ]),
    );
  });

  it('a throttled message is retried, and arrives once', async () => {
    const topic = arnOf('sns', unique('orders'));
    let tries = 0;
    refuse = ({ to }) => {
      if (to !== topic) return undefined;
      tries += 1;
      return tries === 1 ? new Refused(429, 'Throttled', 'Rate exceeded') : undefined;
    };
    const messageId = messageIdOf(await send(topic, { 'Svc-Retry-Delay': '0' }));
    expect(await received(topic)).toHaveLength(1);
    const [entry] = await found(`/v2/logs?messageId=${messageId}&state=ERROR`, 'logs');
    expect(entry).toMatchObject({
      responseStatus: 429,
      error: 'SNS throttles the topic: ThrottledException: Rate exceeded',
    });
    expect(tries).toBe(2);
  });

  it('a missing queue leads to a dead letter with a sentence, whose retry arrives once the queue exists', async () => {
    const queue = unique('orders');
    let isThere = false;
    refuse = ({ to }) =>
      to === urlOf(queue) && !isThere
        ? new Refused(400, 'QueueDoesNotExist', 'The specified queue does not exist.')
        : undefined;
    const messageId = messageIdOf(await send(arnOf('sqs', queue), { 'Svc-Retries': '0' }));
    const letter = await deadLetterOf(messageId);
    expect(letter).toMatchObject({ responseStatus: 404, error: `There is no queue ${arnOf('sqs', queue)}.` });
    isThere = true;
    expect((await call('POST', `/v2/dlq/retry/${String(letter?.['dlqId'])}`)).status).toBe(201);
    expect(await received(urlOf(queue))).toMatchObject([{ text: 'work' }]);
  });

  it('an account sends only to its allowed destinations, and its lists are combined', async () => {
    const made = await makeAccount({}, stage.management);
    const queue = unique('orders');
    const as = () => publish(arnOf('sqs', queue), { token: made.token, url: stage.url, body: 'work' });
    expect({ status: (await as()).status, ...refusalOf(await as()) }).toEqual({
      status: 403,
      code: 'destination_not_allowed',
      error: `The destination is "${arnOf('sqs', queue)}", which the field destinations of the account does not have.`,
    });
    const destinations = [arnOf('sqs', 'orders*')];
    const lambda_destinations = [arnOf('lambda', 'function:orders')];
    const changed = await changeAccount(made.id, { destinations, lambda_destinations }, stage.management);
    expect(changed).toMatchObject({ destinations, lambda_destinations });
    messageIdOf(await as());
    await received(urlOf(queue));
  });
});

describe.runIf(service.target === 'deployed')('in the account of a deployment', () => {
  let aws: ReturnType<typeof openAwsReceivers>;
  beforeAll(async () => {
    aws = openAwsReceivers();
    const destinations = ['sqs:*:*:*', 'sns:*:*:*', 'events:*:*:event-bus/*'].map((one) => `arn:aws:${one}`);
    await changeAccount(accountIdOf(service.token), { destinations });
  });
  afterAll(() => {
    aws.close();
  });
  const one = async ({ received }: AwsReceiver) => (await received(1))[0] ?? expect.fail('Nothing came.');

  it('a message arrives in a queue, with its headers as attributes', async () => {
    const queue = await aws.queue();
    const headers = { 'Content-Type': 'text/plain', 'Svc-Forward-X-Tenant': 'acme' };
    const messageId = messageIdOf(await publish(queue.arn, { headers, body: 'work' }));
    expect(await one(queue)).toMatchObject({
      Body: 'work',
      MessageAttributes: {
        'svc-message-id': { StringValue: messageId },
        'x-tenant': { StringValue: 'acme' },
      },
    });
    const [entry] = await logged({ messageId, state: 'DELIVERED' }, 1);
    expect(entry).toMatchObject({ url: queue.arn, responseStatus: 200 });
  });

  it('a FIFO queue gets its messages in the order of their queue', async () => {
    const fifo = await aws.queue(`receiver-${unique('queue')}.fifo`);
    const name = unique('mail');
    const ids: string[] = [];
    for (const body of ['first', 'second'])
      ids.push(messageIdOf(await api('POST', `/v2/enqueue/${name}/${fifo.arn}`, { body })));
    expect(await fifo.received(2)).toMatchObject(
      ids.map((MessageDeduplicationId) => ({ Attributes: { MessageGroupId: name, MessageDeduplicationId } })),
    );
  });

  it('a topic gets a message, and a bus an event', async () => {
    const topic = await aws.topic();
    const messageId = messageIdOf(await publish(topic.arn, { body: 'work' }));
    expect(await one(topic)).toMatchObject({
      Body: 'work',
      MessageAttributes: { 'svc-message-id': { StringValue: messageId } },
    });
    const bus = await aws.bus('com.example');
    const headers = { 'Svc-Forward-Source': 'com.example', 'Svc-Forward-Detail-Type': 'Placed' };
    messageIdOf(await publish(bus.arn, { headers, body: '{"id":7}' }));
    const { Body = '' } = await one(bus);
    expect(JSON.parse(Body)).toMatchObject({
      source: 'com.example',
      'detail-type': 'Placed',
      detail: { body: { id: 7 } },
    });
  });

  it('a missing queue leads to a dead letter, and one that the deployment does not allow is refused', async () => {
    const { arn } = await aws.queue();
    const missing = `${arn}-missing`;
    const messageId = messageIdOf(await publish(missing, { headers: { 'Svc-Retries': '0' }, body: 'work' }));
    const [letter] = await deadLettered({ messageId }, 1);
    expect(letter).toMatchObject({ responseStatus: 404, error: `There is no queue ${missing}.` });
    const other = arn.replace('receiver-', 'other-');
    expect(refusalOf(await publish(other))).toMatchObject({
      code: 'destination_not_allowed',
      error: expect.stringContaining('the setting destinations of the deployment') as string,
    });
  });
});
