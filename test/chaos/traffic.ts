/** The traffic of a run: several clients, each with a separate plan of requests. */
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { Chance } from './chance.ts';
import type { AcceptedMessage, Ledger } from './ledger.ts';
import type { Receivers } from './receivers.ts';
import type { StageHandle } from './stageHandle.ts';
import type { WorkflowApp } from './workflowApp.ts';

export interface ChaosFixture {
  readonly seed: number;
  readonly stage: StageHandle;
  readonly receivers: Receivers;
  readonly ledger: Ledger;
  readonly app: WorkflowApp;
}

export const queueNames = ['queue-1', 'queue-2', 'queue-3'] as const;
/** Clients create this queue by using it, and delete it while others use it. */
export const deletedQueue = 'deleted';
export const flowKeys = {
  narrow: 'parallelism=2',
  slow: 'rate=20, period=5s',
  both: 'parallelism=3, rate=30, period=5s',
} as const;
export const groupName = 'group';
const groupSize = 3;

/** The clients' requests, and their relative frequencies. */
const acts = {
  publish: 30,
  withCallbacks: 14,
  batch: 6,
  group: 6,
  enqueue: 14,
  flowControl: 14,
  delayed: 6,
  large: 3,
  deduplicated: 4,
  cancel: 6,
  retryDeadLetter: 4,
  pauseQueue: 1,
  enqueueToDeleted: 8,
  changeDeleted: 4,
  resetKey: 1,
  schedule: 1,
  runSchedule: 1,
  deleteSchedule: 1,
  workflow: 4,
  cancelRun: 1,
  look: 3,
} as const;
type Act = keyof typeof acts;

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Answered {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly json: unknown;
}

/** The last of several answers. */
interface Tried extends Answered {
  readonly tries: number;
}

const accepted = z.object({ messageId: z.string() });
const failed = z.object({ error: z.string() });
const deadLetters = z.object({
  messages: z.array(
    z.object({
      dlqId: z.string(),
      messageId: z.string(),
      url: z.string(),
      queueName: z.optional(z.string()),
    }),
  ),
});

/** A client's timeout: longer than API Gateway's. */
const requestTimeoutMs = 35_000;

/** Sends one request to the service, by default with the normal clients' token. */
export async function ask(
  { stage, ledger }: Pick<ChaosFixture, 'stage' | 'ledger'>,
  what: string,
  path: string,
  { method = 'POST', headers = {}, body }: Asked = {},
): Promise<Answered> {
  const answer = await fetch(`${stage.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${stage.token}`, ...headers },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(requestTimeoutMs),
  })
    .then(async (response): Promise<Answered> => {
      const text = await response.text();
      return { status: response.status, json: text === '' ? undefined : (JSON.parse(text) as unknown) };
    })
    // The stage was killed or was too slow, so it is unknown whether the request took effect.
    .catch((): Answered => ({ status: 0, json: undefined }));
  ledger.count(what, answer.status);
  return answer;
}

export const isOk = ({ status }: Answered): boolean => status >= 200 && status < 300;

/**
 * Repeats a request until it succeeds, even while the stage is being restarted. For things that the test must
 * know.
 */
export async function askUntilDone(
  fixture: Pick<ChaosFixture, 'stage' | 'ledger'>,
  what: string,
  path: string,
  asked: Asked = {},
): Promise<Answered> {
  for (let tries = 1; ; tries += 1) {
    await fixture.stage.up;
    const answer = await ask(fixture, what, path, asked);
    if (isOk(answer) || (answer.status >= 400 && answer.status < 500 && answer.status !== 429)) return answer;
    if (tries === 60) throw new Error(`${what} was not done: ${JSON.stringify(answer)}`);
    await setTimeout(500);
  }
}

/** Creates what all clients share. */
export async function prepare(fixture: ChaosFixture): Promise<void> {
  const { receivers } = fixture;
  for (const [at, queueName] of queueNames.entries()) {
    const body = JSON.stringify({ queueName, parallelism: at + 1 });
    await askUntilDone(fixture, 'queue', '/v2/queues', { body });
  }
  const endpoints = Array.from({ length: groupSize }, (_, at) => ({ url: receivers.urlOf(at + 1) }));
  await askUntilDone(fixture, 'group', `/v2/topics/${groupName}/endpoints`, {
    body: JSON.stringify({ endpoints }),
  });
}

/** Starts a run with many parallel steps, which fail rarely enough for the run to succeed. */
export async function startLargeRun({ app, ledger }: ChaosFixture, branches: number): Promise<void> {
  const { workflowRunId } = await app.client.trigger({
    url: app.largeUrl,
    body: { branches },
    retries: 5,
    retryDelay: '1000',
  });
  ledger.runs.add(workflowRunId);
  ledger.lastingRuns.add(workflowRunId);
}

/** More than the messages of a batch. */
const numbersPerAct = 20;

export class TrafficClient {
  readonly #fixture: ChaosFixture;
  readonly #client: number;
  /** The random decisions of the current act, so that no act depends on the results of others. */
  #chance: Chance;
  /** The latest message number. Each client has its own million, and each act its own twenty. */
  #number: number;
  /** The ids of its messages that may still wait. */
  readonly #own: string[] = [];
  readonly #runs: string[] = [];
  readonly #schedules: string[] = [];

  constructor(fixture: ChaosFixture, client: number) {
    this.#fixture = fixture;
    this.#client = client;
    this.#chance = this.#chanceOf(0);
    this.#number = client * 1_000_000;
  }

  #chanceOf(act: number): Chance {
    return new Chance(this.#fixture.seed, `client ${this.#client} act ${act}`);
  }

  async run(isOver: () => boolean): Promise<void> {
    for (let act = 1; !isOver(); act += 1) {
      this.#chance = this.#chanceOf(act);
      const pauseMs = this.#chance.from(50, 500);
      // Each act has its own numbers, used or not, so that other acts' numbers don't change.
      this.#number = this.#client * 1_000_000 + act * numbersPerAct;
      await this.#act(this.#chance.weighted(acts));
      await setTimeout(pauseMs);
    }
  }

  #act(act: Act): Promise<void> {
    const chance = this.#chance;
    switch (act) {
      case 'publish':
        return this.#publish(act);
      case 'withCallbacks':
        return this.#publish(act, { hasCallback: true, hasFailureCallback: chance.is(0.7) });
      case 'delayed':
        return this.#publish(act, { headers: { 'Svc-Delay': `${chance.from(1, 90)}s` } });
      case 'large':
        return this.#publish(act, { body: 'x'.repeat(chance.from(2_000, 40_000)) });
      case 'deduplicated':
        return this.#publish(act, { isRepeated: true });
      case 'enqueue':
        return this.#publish(act, { route: `enqueue/${chance.of(queueNames)}`, hasCallback: chance.is(0.3) });
      case 'enqueueToDeleted': {
        const headers = chance.is(0.3)
          ? { 'Svc-Priority': 'high', 'Svc-Fair-Key': `${chance.from(1, 6)}` }
          : {};
        return this.#publish(act, { route: `enqueue/${deletedQueue}`, headers, mayBeCancelled: true });
      }
      case 'changeDeleted':
        return this.#changeDeleted();
      case 'flowControl': {
        const key = chance.of(Object.keys(flowKeys) as (keyof typeof flowKeys)[]);
        return this.#publish(act, {
          headers: { 'Svc-Flow-Control-Key': key, 'Svc-Flow-Control-Value': flowKeys[key] },
        });
      }
      case 'batch':
        return this.#batch();
      case 'group':
        return this.#group();
      case 'cancel':
        return this.#cancel();
      case 'retryDeadLetter':
        return this.#retryDeadLetter();
      case 'pauseQueue':
        return this.#pauseQueue();
      case 'resetKey':
        return this.#simple(act, `/v2/flowControl/${chance.of(Object.keys(flowKeys))}/resetRate`, [404]);
      case 'schedule':
        return this.#schedule();
      case 'runSchedule':
        return this.#onSchedule(act, 'POST', '/run');
      case 'deleteSchedule':
        return this.#onSchedule(act, 'DELETE', '');
      case 'workflow':
        return this.#workflow();
      case 'cancelRun':
        return this.#cancelRun();
      case 'look':
        return this.#simple(
          act,
          chance.of(['/v2/logs?count=20', '/v2/messages', '/v2/queues', '/v2/flowControl', '/v2/stats']),
          [],
          'GET',
        );
    }
  }

  #next(): number {
    this.#number += 1;
    return this.#number;
  }

  #settings(): Record<string, string> {
    const chance = this.#chance;
    return {
      // Few messages wait so long for an answer that they take the long queue.
      'Svc-Timeout': chance.is(0.1) ? '35s' : '3s',
      'Svc-Retries': String(chance.from(1, 3)),
      'Svc-Retry-Delay': String(chance.from(500, 4_000)),
    };
  }

  async #publish(
    act: Act,
    {
      route = 'publish',
      headers = {},
      hasCallback = false,
      hasFailureCallback = false,
      body = 'work',
      isRepeated = false,
      mayBeCancelled = false,
    } = {},
  ): Promise<void> {
    const { receivers } = this.#fixture;
    const number = this.#next();
    const all = {
      ...this.#settings(),
      ...headers,
      ...(hasCallback && { 'Svc-Callback': receivers.callbackUrl, 'Svc-Callback-Retries': '5' }),
      ...(hasFailureCallback && { 'Svc-Failure-Callback': receivers.failureCallbackUrl }),
      ...(isRepeated && { 'Svc-Deduplication-Id': `number-${number}` }),
    };
    const asked = { headers: all, body };
    const path = `/v2/${route}/${receivers.urlOf(number)}`;
    const answer = await this.#tried(act, path, asked);
    const message = this.#noted(act, answer.json, number, { hasCallback, hasFailureCallback }, answer);
    if (mayBeCancelled && message !== undefined) this.#fixture.ledger.cancelAsked.add(message.messageId);
    if (!isRepeated || message === undefined) return;
    const again = await this.#tried(act, path, asked);
    const { data } = accepted.safeParse(again.json);
    if (isOk(again) && data?.messageId !== message.messageId) {
      this.#unexpected(act, { status: again.status, json: [message.messageId, again.json] });
    }
  }

  #noted(
    act: Act,
    json: unknown,
    number: number,
    callbacks: Pick<AcceptedMessage, 'hasCallback' | 'hasFailureCallback'>,
    answer: Answered,
  ): AcceptedMessage | undefined {
    if (!isOk(answer)) return undefined;
    const { data } = accepted.safeParse(json);
    if (data === undefined) {
      // A single entry of a batch may fail.
      if (!failed.safeParse(json).success) this.#unexpected(act, answer);
      return undefined;
    }
    const message = { messageId: data.messageId, number, ...callbacks };
    this.#fixture.ledger.accept(message);
    this.#own.push(data.messageId);
    return message;
  }

  async #batch(): Promise<void> {
    const { receivers } = this.#fixture;
    const numbers = Array.from({ length: this.#chance.from(2, 14) }, () => this.#next());
    const items = numbers.map((number) => ({
      destination: receivers.urlOf(number),
      headers: this.#settings(),
      body: String(number),
      ...(this.#chance.is(0.3) && { queue: this.#chance.of(queueNames) }),
    }));
    const answer = await this.#tried('batch', '/v2/batch', { body: JSON.stringify(items) });
    if (!isOk(answer)) return;
    const answers = z.array(z.unknown()).parse(answer.json);
    for (const [at, number] of numbers.entries()) {
      this.#noted('batch', answers[at], number, { hasCallback: false, hasFailureCallback: false }, answer);
    }
  }

  async #group(): Promise<void> {
    const answer = await this.#tried('group', `/v2/publish/${groupName}`, {
      headers: this.#settings(),
      body: 'to all',
    });
    if (!isOk(answer)) return;
    const answers = z.array(z.unknown()).parse(answer.json);
    if (answers.length !== groupSize) this.#unexpected('group', answer);
    for (const [at, one] of answers.entries()) {
      this.#noted('group', one, at + 1, { hasCallback: false, hasFailureCallback: false }, answer);
    }
  }

  async #cancel(): Promise<void> {
    const messageId = this.#own.splice(this.#chance.from(0, 5), 1)[0];
    if (messageId === undefined) return;
    this.#fixture.ledger.cancelAsked.add(messageId);
    const answer = await this.#tried('cancel', `/v2/messages/${messageId}`, { method: 'DELETE' }, [404]);
    if (isOk(answer)) this.#fixture.ledger.cancelled.add(messageId);
  }

  async #retryDeadLetter(): Promise<void> {
    const { ledger } = this.#fixture;
    const listed = await this.#tried('listDeadLetters', '/v2/dlq?count=20', { method: 'GET' });
    const letters = isOk(listed) ? deadLetters.parse(listed.json).messages : [];
    if (letters.length === 0) return;
    const { dlqId, messageId, url, queueName } = this.#chance.of(letters);
    ledger.retried.add(messageId);
    const number = Number(/\/m\/(\d+)$/.exec(url)?.[1] ?? 0);
    const answer = await this.#tried('retryDeadLetter', `/v2/dlq/retry/${dlqId}`, {}, [404, 409]);
    // The dead letter queue also has callbacks and deliveries of runs. They are checked in the end.
    const known = ledger.accepted.get(messageId);
    const message = this.#noted(
      'retryDeadLetter',
      answer.json,
      number,
      {
        hasCallback: known?.hasCallback ?? false,
        hasFailureCallback: known?.hasFailureCallback ?? false,
      },
      answer,
    );
    // It joins its queue again.
    if (queueName === deletedQueue && message !== undefined) ledger.cancelAsked.add(message.messageId);
  }

  async #pauseQueue(): Promise<void> {
    const path = `/v2/queues/${this.#chance.of(queueNames)}`;
    await this.#tried('pauseQueue', `${path}/pause`);
    await setTimeout(this.#chance.from(500, 4_000));
    await askUntilDone(this.#fixture, 'resumeQueue', `${path}/resume`);
  }

  /** The queue may be deleted before each change. */
  async #changeDeleted(): Promise<void> {
    const path = `/v2/queues/${deletedQueue}`;
    const change = this.#chance.of(['delete', 'pause', 'resume', 'resume'] as const);
    if (change === 'delete') await this.#tried('deleteQueue', path, { method: 'DELETE' }, [404]);
    else await this.#tried(`${change}Deleted`, `${path}/${change}`, {}, [404]);
  }

  async #simple(what: string, path: string, allowed: readonly number[], method = 'POST'): Promise<void> {
    await this.#tried(what, path, { method }, allowed);
  }

  async #schedule(): Promise<void> {
    const { receivers, ledger, stage } = this.#fixture;
    const id = `schedule-${this.#next()}`;
    const answer = await this.#tried('schedule', `/v2/schedules/${receivers.origin}/s/${id}`, {
      headers: { ...this.#settings(), 'Svc-Cron': '* * * * *', 'Svc-Schedule-Id': id },
      body: 'tick',
    });
    if (!isOk(answer)) return;
    ledger.schedules.set(id, {
      id,
      createdAt: stage.now(),
      deletedAt: undefined,
      createdIn: stage.generation,
    });
    this.#schedules.push(id);
  }

  async #onSchedule(what: string, method: string, path: string): Promise<void> {
    const { ledger, stage } = this.#fixture;
    const id = method === 'DELETE' ? this.#schedules.shift() : this.#schedules[0];
    if (id === undefined) return;
    const known = ledger.schedules.get(id);
    if (method === 'DELETE') ledger.mayLeaveMessages.add(id);
    if (method === 'DELETE' && known !== undefined) known.deletedAt = stage.now();
    const answer = await this.#tried(what, `/v2/schedules/${id}${path}`, { method }, [404]);
    if (answer.tries > 1 || !isOk(answer)) ledger.mayLeaveMessages.add(id);
    if (what === 'runSchedule') {
      this.#noted('runSchedule', answer.json, 0, { hasCallback: false, hasFailureCallback: false }, answer);
    }
  }

  async #workflow(): Promise<void> {
    const { app, ledger } = this.#fixture;
    const number = this.#chance.from(1, 100);
    try {
      const { workflowRunId } = await app.client.trigger({
        url: app.url,
        body: { number },
        retries: 3,
        retryDelay: '1000',
      });
      ledger.runs.add(workflowRunId);
      this.#runs.push(workflowRunId);
      ledger.count('workflow', 200);
    } catch {
      // It is unknown whether the run was started.
      ledger.count('workflow', 0);
    }
  }

  async #cancelRun(): Promise<void> {
    const runId = this.#runs.shift();
    if (runId === undefined) return;
    this.#fixture.ledger.cancelAsked.add(runId);
    await this.#tried('cancelRun', `/v2/workflows/runs/${runId}`, { method: 'DELETE' }, [404]);
  }

  #unexpected(what: string, answer: Answered): void {
    this.#fixture.ledger.unexpected.push(`${what}: ${answer.status} ${JSON.stringify(answer.json)}`);
  }

  /** Makes a request up to three times, as a client does after no answer or an error. */
  async #tried(
    what: string,
    path: string,
    asked: Asked = {},
    allowed: readonly number[] = [],
  ): Promise<Tried> {
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(this.#fixture, what, path, asked);
      const { status } = answer;
      const isRefusal = status >= 400 && status < 500 && status !== 429;
      if (isRefusal && !allowed.includes(status)) this.#unexpected(what, answer);
      if (isOk(answer) || isRefusal || tries === 3) return { ...answer, tries };
      await setTimeout(200 * tries);
    }
  }
}
