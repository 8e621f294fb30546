/** The end of a run: lets everything settle, and collects what the ledger, the receivers and the service say. */
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { counted } from '../../lambdas/wire/answers.ts';
import { callbackBody, type CallbackArrival } from './receivers.ts';
import { broken, type LaneInTheEnd } from './rules.ts';
import { askUntilDone, deletedQueue, flowKeys, isOk, queueNames, type ChaosFixture } from './traffic.ts';

const shownMessage = z.object({ messageId: z.string(), url: z.string(), state: z.string() });
const messagePage = z.object({ messages: z.array(shownMessage), cursor: z.optional(z.string()) });
const deadLetterPage = z.object({
  messages: z.array(
    z.looseObject({
      dlqId: z.string(),
      messageId: z.string(),
      url: z.string(),
      error: z.optional(z.string()),
    }),
  ),
  cursor: z.optional(z.string()),
});
const scheduleList = z.array(z.looseObject({ scheduleId: z.string() }));
const queueList = z.array(z.looseObject({ name: z.string(), lag: z.number() }));
const keyList = z.array(
  z.looseObject({ flowControlKey: z.string(), waitListSize: z.number(), parallelismCount: z.number() }),
);

/** Adds up the counts of all pages: a count that takes too long continues with a cursor. */
async function countAll(fixture: ChaosFixture, path: string): Promise<number> {
  let sum = 0;
  let cursor: string | undefined;
  do {
    const query: string = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const page = counted.parse(await get(fixture, `${path}${query}`));
    sum += page.count ?? 0;
    ({ cursor } = page);
  } while (cursor !== undefined);
  return sum;
}

const get = async (fixture: ChaosFixture, path: string): Promise<unknown> => {
  const answer = await askUntilDone(fixture, 'verdict', path, { method: 'GET' });
  if (!isOk(answer)) throw new Error(`GET ${path} answered ${answer.status}: ${JSON.stringify(answer.json)}`);
  return answer.json;
};

async function pages<T>(
  fixture: ChaosFixture,
  path: string,
  read: (json: unknown) => { readonly messages: readonly T[]; readonly cursor?: string | undefined },
): Promise<readonly T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const page = read(
      await get(fixture, `${path}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`),
    );
    all.push(...page.messages);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return all;
}

/**
 * Failed work is retried within a quarter of an hour, and given up after ten times. Nothing more will happen after two hours
 * without a change, or after two rounds without waiting messages.
 */
const roundsUnchanged = 8;

/** After an outage work is retried within a quarter of an hour, and a dead worker's claim ends after a minute. */
const returnsMs = 17 * 60_000;

/** Stops what creates new work, and lets stage time pass until nothing changes. */
export async function settle(fixture: ChaosFixture, say: (line: string) => void): Promise<void> {
  const { stage, ledger } = fixture;
  // A retried fire of a deleted schedule is dropped, so interrupted fires must be retried before the schedules are deleted.
  await stage.advance(returnsMs);
  const schedules = scheduleList.parse(await get(fixture, '/v2/schedules'));
  for (const { scheduleId } of schedules) {
    const known = ledger.schedules.get(scheduleId);
    if (known !== undefined) known.deletedAt ??= stage.now();
    await askUntilDone(fixture, 'deleteSchedule', `/v2/schedules/${scheduleId}`, { method: 'DELETE' });
  }
  for (const name of [...queueNames, deletedQueue]) {
    await askUntilDone(fixture, 'resumeQueue', `/v2/queues/${name}/resume`);
  }
  let before = '';
  let unchanged = 0;
  for (let round = 1; round <= 60 && unchanged < roundsUnchanged; round += 1) {
    await stage.advance(round < 10 ? 30_000 : 900_000);
    const waiting = await countAll(fixture, '/v2/messages/count');
    const runs = await countAll(fixture, '/v2/workflows/runs/count');
    say(`settling: ${waiting} messages wait, ${runs} runs go on`);
    const now = `${waiting} ${runs}`;
    unchanged = now === before && (round >= 10 || now === '0 0') ? unchanged + (now === '0 0' ? 4 : 1) : 0;
    before = now;
    // Answers and records need some real time.
    await setTimeout(200);
  }
}

type DeadMessage = z.output<typeof deadLetterPage>['messages'][number];

const deadBody = z.looseObject({ body: z.string() });

/** Receivers accept every callback, so a callback is in the dead letter queue only if it was given up without an answer. */
async function deadCallbacksAmong(
  fixture: ChaosFixture,
  dead: readonly DeadMessage[],
): Promise<readonly CallbackArrival[]> {
  const callbacks = dead.filter(
    ({ url, error }) => /\/(callback|failure)$/.test(url) && error?.startsWith('The delivery worker died'),
  );
  return Promise.all(
    callbacks.map(async ({ dlqId, url }) => {
      const { body } = deadBody.parse(await get(fixture, `/v2/dlq/${dlqId}`));
      return { ...callbackBody.parse(JSON.parse(body)), isFailure: url.endsWith('/failure') };
    }),
  );
}

/** @returns the broken rules, as sentences */
export async function faultsFound(
  fixture: ChaosFixture,
  say: (line: string) => void,
): Promise<readonly string[]> {
  const { ledger, receivers, stage } = fixture;
  const shown = await pages(fixture, '/v2/messages?state=ALL&count=100', (json) => messagePage.parse(json));
  const dead = await pages(fixture, '/v2/dlq?count=100', (json) => deadLetterPage.parse(json));
  const deadCallbacks = await deadCallbacksAmong(fixture, dead);
  say(
    `${deadCallbacks.length} callbacks are in the dead letter queue: each worker that was to send them died`,
  );
  return broken({
    ledger,
    answers: receivers.answers,
    callbacks: receivers.callbacks,
    shown,
    deadCallbacks,
    deadIds: new Set(dead.map(({ messageId }) => messageId)),
    runStates: await runStates(fixture),
    starts: stage.generation,
    lanes: await lanesInTheEnd(fixture),
  });
}

async function runStates({ ledger, app }: ChaosFixture): Promise<ReadonlyMap<string, string | undefined>> {
  const states = new Map<string, string | undefined>();
  for (const workflowRunId of ledger.runs) {
    const { runs } = await app.client.logs({ filter: { workflowRunId } });
    states.set(workflowRunId, runs[0]?.workflowState);
  }
  return states;
}

const sentLast = z.object({ messageId: z.string() });

/** Checks each lane, and sends a final message through it. */
async function lanesInTheEnd(fixture: ChaosFixture): Promise<readonly LaneInTheEnd[]> {
  const { receivers, stage } = fixture;
  const queues = queueList
    .parse(await get(fixture, '/v2/queues'))
    .map(({ name, lag }) => ({ name: `The queue ${name}`, waiting: lag, inFlight: 0 }));
  const keys = keyList
    .parse(await get(fixture, '/v2/flowControl'))
    .map(({ flowControlKey, waitListSize, parallelismCount }) => ({
      name: `The key ${flowControlKey}`,
      waiting: waitListSize,
      inFlight: parallelismCount,
    }));

  const last = new Map<string, string>();
  const send = async (lane: string, path: string, headers: Record<string, string> = {}): Promise<void> => {
    const { json } = await askUntilDone(fixture, 'last', `/v2/${path}/${receivers.origin}/last`, { headers });
    last.set(lane, sentLast.parse(json).messageId);
  };
  for (const name of queueNames) await send(`The queue ${name}`, `enqueue/${name}`);
  for (const [key, value] of Object.entries(flowKeys)) {
    const headers = { 'Svc-Flow-Control-Key': key, 'Svc-Flow-Control-Value': value };
    await send(`The key ${key}`, 'publish', headers);
  }
  const hasCome = (messageId: string): boolean => receivers.answers.has(messageId);
  for (let round = 0; round < 10 && ![...last.values()].every(hasCome); round += 1) {
    await stage.advance(10_000);
  }

  const known = new Map([...queues, ...keys].map((lane) => [lane.name, lane]));
  return [...last].map(([name, messageId]) => ({
    ...(known.get(name) ?? { name, waiting: 0, inFlight: 0 }),
    isOpen: hasCome(messageId),
  }));
}
