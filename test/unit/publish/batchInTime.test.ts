import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { declareFault } from '../../support/faults.ts';
import { openFixture, type Fixture } from '../../support/fixture.ts';
import type { Inbox } from '../../support/receiver.ts';

/** Batches through the function's handler, whose time is driven by the calls that it makes. */

const event = z.custom<APIGatewayProxyEvent>((value) => typeof value === 'object');
const context = z.custom<Context>((value) => typeof value === 'object');
const record = z.object({ id: z.string(), token: z.string(), read_only_token: z.string() });
const published = z.object({ messageId: z.string(), deduplicated: z.optional(z.boolean()) });
const refused = z.strictObject({ error: z.string(), code: z.string(), status: z.number() });
const item = z.union([published, refused, z.array(published)]);
type Item = z.infer<typeof item>;

const enoughMs = 20_000;
const plentyOfTime = (): number => enoughMs;

let fixture: Fixture;
let owner: z.infer<typeof record>;
let send: (
  items: readonly object[],
  remainingMs: () => number,
  token?: string,
) => Promise<{ readonly status: number; readonly body: unknown }>;
let addGroup: (name: string, url: string, endpoints: number) => Promise<void>;
beforeAll(async () => {
  fixture = await openFixture();
  const [{ createAccount }, { loadAccount }, { handler }, { addEndpoints }] = await Promise.all([
    import('../../../lambdas/management/accounts.ts'),
    import('../../../lambdas/account/accounts.ts'),
    import('../../../lambdas/handlers/publish.ts'),
    import('../../../lambdas/urlGroup/endpoints.ts'),
  ]);
  owner = record.parse(await createAccount(Buffer.from('{"type":"paid"}')));
  send = async (items, getRemainingTimeInMillis, token = owner.token) => {
    const path = '/v2/batch';
    const { statusCode, body } = await handler(
      event.parse({
        httpMethod: 'POST',
        path,
        requestContext: { requestId: randomUUID(), path, identity: { sourceIp: '192.0.2.1' } },
        multiValueHeaders: { authorization: [`Bearer ${token}`] },
        multiValueQueryStringParameters: null,
        body: JSON.stringify(items),
        isBase64Encoded: false,
      }),
      context.parse({ getRemainingTimeInMillis }),
    );
    return { status: statusCode, body: JSON.parse(body) };
  };
  addGroup = async (name, url, count) => {
    const account = await loadAccount(owner.id, true);
    if (account === undefined) throw new Error('The account was not made.');
    const body = Buffer.from(
      JSON.stringify({
        endpoints: Array.from({ length: count }, (_, number) => ({ url: `${url}/${number}` })),
      }),
    );
    await addEndpoints(account, { name, body, prefix: 'Svc', host: 'api.example.com' });
  };
});
afterAll(() => fixture.close());
beforeEach(() => fixture.startTest());

const batch = async (items: readonly object[], remainingMs = plentyOfTime): Promise<readonly Item[]> => {
  const { status, body } = await send(items, remainingMs);
  expect(status).toBe(200);
  const answers = z.array(item).parse(body);
  expect(answers).toHaveLength(items.length);
  return answers;
};

/** Returns a clock: the time is over when a call has been made this often. */
const until =
  (operation: string, calls: number, leftMs = 1_000) =>
  (): number =>
    fixture.callsOf(operation) < calls ? enoughMs : leftMs;

const isLate = (answer: Item): boolean => 'code' in answer && answer.code === 'time_over';
const idOf = (answer: Item | undefined): string => published.parse(answer).messageId;
const bodiesIn = ({ deliveries }: Inbox): readonly string[] => deliveries.map(({ body }) => body.toString());
const numbered = (inbox: Inbox, count: number, more: (number: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, number) => ({
    destination: inbox.url,
    body: `東京 ${number}`,
    ...more(number),
  }));
const withId = (name: string) => (number: number) => ({
  headers: { 'Svc-Deduplication-Id': `${name}-${number}` },
});

/** Repeats what was not begun, like a client. */
async function repeatRest(
  items: readonly object[],
  answers: readonly Item[],
): Promise<readonly (Item | undefined)[]> {
  const again = (await batch(items.filter((_, index) => isLate(answers[index] ?? [])))).values();
  return answers.map((answer) => (isLate(answer) ? again.next().value : answer));
}

describe('a batch whose time is over after its first messages', () => {
  it('answers their ids and an error for each of the rest, and delivers exactly the former', async () => {
    const inbox = fixture.receiver.inbox();
    const items = numbered(inbox, 120);
    const answers = await batch(items, until('BatchWriteItemCommand', 4));
    await fixture.doJobs();
    expect(answers.map(isLate)).toEqual(items.map((_, index) => index >= 100));
    expect(answers[119]).toEqual({
      status: 503,
      code: 'time_over',
      error:
        'The time for the request was over before this message was stored; it was not accepted, send it again.',
    });
    expect(new Set(bodiesIn(inbox))).toEqual(new Set(items.slice(0, 100).map(({ body }) => body)));
    const all = await repeatRest(items, answers);
    await fixture.doJobs();
    expect(
      new Map(inbox.deliveries.map(({ headers, body }) => [body.toString(), headers['svc-message-id']])),
    ).toEqual(new Map(items.map(({ body }, index) => [body, idOf(all[index])])));
    expect(inbox.deliveries).toHaveLength(120);
  });

  it('can be repeated whole with deduplication ids, and delivers each message once', async () => {
    const inbox = fixture.receiver.inbox();
    const items = numbered(inbox, 120, withId('whole'));
    const first = await batch(items, until('BatchWriteItemCommand', 4));
    const second = await batch(items);
    const third = await batch(items);
    await fixture.doJobs();
    expect(bodiesIn(inbox).toSorted()).toEqual(items.map(({ body }) => body).toSorted());
    expect(second.slice(0, 100)).toEqual(
      first.slice(0, 100).map((answer) => ({ messageId: idOf(answer), deduplicated: true })),
    );
    expect(second.slice(100).every((answer) => !('deduplicated' in answer))).toBe(true);
    expect(third.map(idOf)).toEqual(second.map(idOf));
  });

  it('has refused an equal message later in the batch only with the first one', async () => {
    const inbox = fixture.receiver.inbox();
    const { headers } = withId('equal')(0);
    const items = numbered(inbox, 150, (number) => (number % 75 === 0 ? { headers } : {}));
    const [before] = await batch(items.slice(0, 1), plentyOfTime);
    fixture.reset();
    const answers = await batch(items, until('BatchWriteItemCommand', 4));
    expect([answers[0], answers[75]]).toEqual([
      { messageId: idOf(before), deduplicated: true },
      { messageId: idOf(before), deduplicated: true },
    ]);
    expect(isLate(answers[149] ?? [])).toBe(true);
  });

  it('keeps the order of a queue over its repetition', async () => {
    const inbox = fixture.receiver.inbox();
    const items = numbered(inbox, 130, () => ({ queue: 'in-order' }));
    await repeatRest(items, await batch(items, until('BatchWriteItemCommand', 4)));
    await fixture.doJobs();
    expect(bodiesIn(inbox)).toEqual(items.map(({ body }) => body));
  });

  it('publishes to all endpoints of a URL group or to none', async () => {
    const inbox = fixture.receiver.inbox();
    await addGroup('forty', inbox.url, 40);
    const items = Array.from({ length: 5 }, (_, number) => ({ destination: 'forty', body: String(number) }));
    const answers = await batch(items, until('BatchWriteItemCommand', 1));
    await fixture.doJobs();
    expect(answers.map((answer) => Array.isArray(answer) && answer.length)).toEqual([
      40,
      40,
      false,
      false,
      false,
    ]);
    expect(answers.map(isLate)).toEqual([false, false, true, true, true]);
    expect(inbox.deliveries).toHaveLength(80);
    await repeatRest(items, answers);
    await fixture.doJobs();
    expect(inbox.deliveries).toHaveLength(200);
  });

  it('keeps the places of refused, debounced and limited messages', async () => {
    const inbox = fixture.receiver.inbox();
    const kinds = [
      { headers: { 'Svc-Flow-Control-Key': 'crm', 'Svc-Flow-Control-Value': 'parallelism=100' } },
      { headers: { 'Svc-Retries': 'many' } },
      { headers: { 'Svc-Debounce': '1m', 'Svc-Debounce-Id': 'places' } },
    ];
    const items = numbered(inbox, 330, (number) => kinds[number % 3] ?? {});
    const answers = await batch(items, until('BatchWriteItemCommand', 4));
    expect(answers.map((answer) => ('status' in answer ? answer.status : 200))).toEqual(
      items.map((_, number) => (number % 3 === 1 ? 400 : number % 3 === 0 && number >= 300 ? 503 : 200)),
    );
    expect(new Set(answers.filter((_, number) => number % 3 === 2).map(idOf)).size).toBe(1);
    await fixture.doJobs();
    expect(new Set(inbox.deliveries.map(({ headers }) => headers['svc-message-id']))).toEqual(
      new Set(
        answers.flatMap((answer, number) => (number % 3 === 0 && !isLate(answer) ? [idOf(answer)] : [])),
      ),
    );
  });

  it('does not begin to debounce the rest', async () => {
    const { url } = fixture.receiver.inbox();
    const items = Array.from({ length: 4 }, (_, number) => ({
      destination: url,
      headers: { 'Svc-Debounce': '1s', 'Svc-Debounce-Id': `late-${number}` },
    }));
    const answers = await batch(items, until('SendMessageCommand', 1));
    expect(answers.map(isLate)).toEqual([false, true, true, true]);
    expect(fixture.callsOf('SendMessageCommand')).toBe(1);
  });
});

describe('a batch on a slow machine', () => {
  it('goes on in smaller steps', async () => {
    const inbox = fixture.receiver.inbox();
    // Each write of rows takes a second.
    const remainingMs = (): number => enoughMs - fixture.callsOf('BatchWriteItemCommand') * 1_000;
    const answers = await batch(numbered(inbox, 1_000), remainingMs);
    // Steps of 100 (four writes), 25, 50, 100, 25, 50, and so on.
    expect(answers.filter((answer) => !isLate(answer))).toHaveLength(350);
    expect(await fixture.drain()).toHaveLength(350);
  });

  it('is refused whole if there is no time to begin, and nothing is stored', async () => {
    const inbox = fixture.receiver.inbox();
    expect(await send(numbered(inbox, 3), () => 7_999)).toMatchObject({
      status: 503,
      body: { code: 'time_over' },
    });
    expect(await fixture.drain()).toEqual([]);
    expect((await batch(numbered(inbox, 3), () => 8_000)).map(isLate)).toEqual([false, false, false]);
  });
});

describe('a batch whose second step fails', () => {
  it('answers the ids of the first, and says of the others what is known', async () => {
    const inbox = fixture.receiver.inbox();
    const items = numbered(inbox, 305, withId('failing'));
    const fails = declareFault('the row of a message that is taken back cannot be written');
    let isDown = false;
    fixture.dynamodb.middlewareStack.add(
      (next) => (args) => {
        if (!isDown) return next(args);
        fails();
        throw new Error('The database is down.');
      },
      { step: 'initialize', name: 'down' },
    );
    const remainingMs = (): number => {
      isDown = fixture.callsOf('BatchWriteItemCommand') >= 4;
      return enoughMs;
    };
    const answers = await batch(items, remainingMs).finally(() =>
      fixture.dynamodb.middlewareStack.remove('down'),
    );
    const codes = answers.map((answer) => ('code' in answer ? answer.code : 'stored'));
    expect(codes).toEqual(
      items.map((_, index) => (index < 100 ? 'stored' : index < 300 ? 'service_failed' : 'not_stored')),
    );
    await batch(items);
    await fixture.doJobs();
    expect(bodiesIn(inbox).toSorted()).toEqual(items.map(({ body }) => body).toSorted());
  });
});

it('a read-only token publishes no batch', async () => {
  const inbox = fixture.receiver.inbox();
  expect(await send(numbered(inbox, 2), plentyOfTime, owner.read_only_token)).toMatchObject({
    status: 403,
    body: { code: 'token_read_only' },
  });
  expect(await fixture.drain()).toEqual([]);
});
