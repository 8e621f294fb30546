/** The rules that must hold in the end, of what the ledger, the receivers and the service say. */
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import type { Ledger } from './ledger.ts';
import { isSuccess, mayBeSuccess } from './receivers.ts';
import { askUntilDone, flowKeys, isOk, queueNames, type Scene } from './traffic.ts';

const shownMessage = z.object({ messageId: z.string(), url: z.string(), state: z.string() });
type ShownMessage = z.infer<typeof shownMessage>;
const messagePage = z.object({ messages: z.array(shownMessage), cursor: z.optional(z.string()) });
const deadLetterPage = z.object({
  messages: z.array(z.looseObject({ messageId: z.string(), url: z.string() })),
  cursor: z.optional(z.string()),
});
const counted = z.object({ count: z.number() });
const scheduleList = z.array(z.looseObject({ scheduleId: z.string() }));
const queueList = z.array(z.looseObject({ name: z.string(), lag: z.number() }));
const keyList = z.array(
  z.looseObject({ flowControlKey: z.string(), waitListSize: z.number(), parallelismCount: z.number() }),
);

const get = async (scene: Scene, path: string): Promise<unknown> => {
  const answer = await askUntilDone(scene, 'verdict', path, { method: 'GET' });
  if (!isOk(answer)) throw new Error(`GET ${path} answered ${answer.status}: ${JSON.stringify(answer.json)}`);
  return answer.json;
};

async function pages<T>(
  scene: Scene,
  path: string,
  read: (json: unknown) => { readonly messages: readonly T[]; readonly cursor?: string | undefined },
): Promise<readonly T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const page = read(
      await get(scene, `${path}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`),
    );
    all.push(...page.messages);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return all;
}

/**
 * Work that fails comes again within a quarter of an hour, and is given up after ten times. Where nothing changes for two hours, or
 * for two rounds where nothing waits, it will not change any more.
 */
const roundsUnchanged = 8;

/** Ends what makes new work by itself, and lets stage time pass until that changes nothing any more. */
export async function settle(scene: Scene, say: (line: string) => void): Promise<void> {
  const { stage, ledger } = scene;
  const schedules = scheduleList.parse(await get(scene, '/v2/schedules'));
  for (const { scheduleId } of schedules) {
    const known = ledger.schedules.get(scheduleId);
    if (known !== undefined) known.deletedAt ??= stage.now();
    await askUntilDone(scene, 'deleteSchedule', `/v2/schedules/${scheduleId}`, { method: 'DELETE' });
  }
  for (const name of queueNames) await askUntilDone(scene, 'resumeQueue', `/v2/queues/${name}/resume`);
  let before = '';
  let unchanged = 0;
  for (let round = 1; round <= 60 && unchanged < roundsUnchanged; round += 1) {
    await stage.advance(round < 10 ? 30_000 : 900_000);
    const { count: waiting } = counted.parse(await get(scene, '/v2/messages/count'));
    const { count: runs } = counted.parse(await get(scene, '/v2/workflows/runs/count'));
    say(`settling: ${waiting} messages wait, ${runs} runs go on`);
    const now = `${waiting} ${runs}`;
    unchanged = now === before && (round >= 10 || now === '0 0') ? unchanged + (now === '0 0' ? 4 : 1) : 0;
    before = now;
    // Answers and records that are on their way in real time.
    await setTimeout(200);
  }
}

/** @returns what does not hold, a sentence each */
export async function faultsFound(scene: Scene): Promise<readonly string[]> {
  const { ledger } = scene;
  const shown = await pages(scene, '/v2/messages?state=ALL&count=100', (json) => messagePage.parse(json));
  const dead = await pages(scene, '/v2/dlq?count=100', (json) => deadLetterPage.parse(json));
  const byId = new Map(shown.map((message) => [message.messageId, message]));
  const deadIds = new Set(dead.map(({ messageId }) => messageId));
  return [
    ...ledger.unexpected.map((answer) => `An answer that a sound request never gets: ${answer}`),
    ...shown.flatMap((message) => unsettled(message, ledger)),
    ...acceptedMessages(scene, byId, deadIds),
    ...owedCallbacks(scene, byId),
    ...fires(scene, shown),
    ...(await runs(scene)),
    ...(await lanes(scene)),
  ];
}

const ended = new Set(['DELIVERED', 'FAILED', 'CANCELED']);

/**
 * Two kinds may be left, and end with their rows. A client's message whose publisher was killed before it sent the work, and so before
 * it answered: nobody was told that it is accepted. And a callback that was stored for an attempt whose worker was killed before it
 * recorded it: the attempt was made again, and came to something else. `owedCallbacks` looks for those that are missing.
 */
function unsettled({ messageId, url, state }: ShownMessage, { accepted }: Ledger): readonly string[] {
  if (ended.has(state)) return [];
  const mayBeLeft =
    state === 'CREATED' && !accepted.has(messageId) && /\/(m\/\d+|callback|failure)$/.test(url);
  return mayBeLeft ? [] : [`Message ${messageId} to ${url} is ${state} for ever.`];
}

function acceptedMessages(
  { ledger, receivers }: Scene,
  byId: ReadonlyMap<string, ShownMessage>,
  deadIds: ReadonlySet<string>,
): readonly string[] {
  const attempts = [...byId.values()];
  return [...ledger.accepted.values()].flatMap(({ messageId, number }) => {
    const message = byId.get(messageId);
    const answers = receivers.answers.get(messageId) ?? [];
    const told = `Message ${messageId} (number ${number}, answered ${answers.join(' ') || 'never'})`;
    if (message === undefined) return [`${told} was accepted, and is nowhere.`];
    if (message.state === 'DELIVERED' && !answers.some(mayBeSuccess)) {
      return [`${told} counts as delivered, and no attempt succeeded.`];
    }
    if (message.state === 'FAILED' && !deadIds.has(messageId)) {
      const isSentAgain = attempts.some((other) => other.url === message.url && other.messageId > messageId);
      if (!ledger.retried.has(messageId)) return [`${told} failed, and is not in the dead letter queue.`];
      if (!isSentAgain) return [`${told} was taken out of the dead letter queue, and was not sent again.`];
    }
    if (message.state === 'CANCELED' && !ledger.cancelAsked.has(messageId)) {
      return [`${told} is cancelled, and nobody asked for it.`];
    }
    if (ledger.cancelled.has(messageId) && message.state === 'FAILED' && !ledger.retried.has(messageId)) {
      return [`${told} was cancelled while it waited, and failed all the same.`];
    }
    return [];
  });
}

function owedCallbacks(
  { ledger, receivers }: Scene,
  byId: ReadonlyMap<string, ShownMessage>,
): readonly string[] {
  const succeeded = new Set<string>();
  const failed = new Set<string>();
  const told = new Set<string>();
  for (const { sourceMessageId, status, isFailure } of receivers.callbacks) {
    if (isFailure) failed.add(sourceMessageId);
    else {
      told.add(sourceMessageId);
      if (status >= 200 && status < 300) succeeded.add(sourceMessageId);
    }
  }
  return [...ledger.accepted.values()].flatMap(({ messageId, number, hasCallback, hasFailureCallback }) => {
    const state = byId.get(messageId)?.state;
    const name = `Message ${messageId} (number ${number})`;
    const answers = receivers.answers.get(messageId) ?? [];
    const owed: string[] = [];
    if (hasCallback && state === 'DELIVERED' && !succeeded.has(messageId)) {
      owed.push(`${name} was delivered, and its callback was not told.`);
    }
    if (hasCallback && state === 'FAILED' && answers.length > 0 && !told.has(messageId)) {
      owed.push(`${name} failed, and its callback was not told.`);
    }
    if (hasFailureCallback && state === 'FAILED' && !failed.has(messageId)) {
      owed.push(`${name} failed, and its failure callback was not told.`);
    }
    if (succeeded.has(messageId) && !answers.some((answer) => isSuccess(answer) || mayBeSuccess(answer))) {
      owed.push(`The callback of ${name} tells a success that there was not.`);
    }
    return owed;
  });
}

const minuteMs = 60_000;

/** A schedule fires each minute, save that a stage which is down at that minute drops the fire, as it says. */
function fires({ ledger, stage }: Scene, shown: readonly ShownMessage[]): readonly string[] {
  return [...ledger.schedules.values()].flatMap(({ id, createdAt, deletedAt, createdIn }) => {
    const minutes = Math.floor(((deletedAt ?? createdAt) - createdAt) / minuteMs) - 1;
    const least = minutes - (stage.generation - createdIn);
    const made = shown.filter(({ url }) => url.endsWith(`/s/${id}`)).length;
    return made >= least ? [] : [`The schedule ${id} made ${made} messages where ${least} are the least.`];
  });
}

const runEnds = new Set(['RUN_SUCCESS', 'RUN_FAILED', 'RUN_CANCELED']);

async function runs({ ledger, app }: Scene): Promise<readonly string[]> {
  const found: string[] = [];
  for (const workflowRunId of ledger.runs) {
    const { runs: listed } = await app.client.logs({ filter: { workflowRunId } });
    const state: string = listed[0]?.workflowState ?? 'nowhere';
    if (!runEnds.has(state)) found.push(`The run ${workflowRunId} was accepted, and is ${state}.`);
    if (state === 'RUN_CANCELED' && !ledger.cancelAsked.has(workflowRunId)) {
      found.push(`The run ${workflowRunId} is cancelled, and nobody asked for it.`);
    }
  }
  return found;
}

/** Nobody waits in a lane or is in flight, and each lets a last message through. */
async function lanes(scene: Scene): Promise<readonly string[]> {
  const found = [
    ...queueList
      .parse(await get(scene, '/v2/queues'))
      .flatMap(({ name, lag }) => (lag === 0 ? [] : [`The queue ${name} has a lag of ${lag}.`])),
    ...keyList
      .parse(await get(scene, '/v2/flowControl'))
      .flatMap(({ flowControlKey, waitListSize, parallelismCount }) =>
        waitListSize === 0 && parallelismCount === 0
          ? []
          : [`The key ${flowControlKey} has ${waitListSize} that wait and ${parallelismCount} in flight.`],
      ),
  ];
  const { receivers, stage } = scene;
  const last = z.object({ messageId: z.string() });
  const sent: (readonly [lane: string, messageId: string])[] = [];
  const send = async (lane: string, path: string, headers: Record<string, string> = {}): Promise<void> => {
    const { json } = await askUntilDone(scene, 'last', `/v2/${path}/${receivers.origin}/last`, { headers });
    sent.push([lane, last.parse(json).messageId]);
  };
  for (const name of queueNames) await send(`the queue ${name}`, `enqueue/${name}`);
  for (const [key, value] of Object.entries(flowKeys)) {
    await send(`the key ${key}`, 'publish', {
      'Svc-Flow-Control-Key': key,
      'Svc-Flow-Control-Value': value,
    });
  }
  for (let round = 0; round < 10; round += 1) {
    await stage.advance(10_000);
    if (sent.every(([, id]) => receivers.answers.has(id))) break;
  }
  return [
    ...found,
    ...sent.flatMap(([lane, id]) => (receivers.answers.has(id) ? [] : [`Nothing goes through ${lane}.`])),
  ];
}
