import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { ScanCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';
import type { Account } from '../../lambdas/account/account.ts';
import type { PublishAnswer } from '../../lambdas/publish/accept.ts';
import { queueNames } from '../../lambdas/aws/resources.ts';
import { formatJob, type AttemptJob, type Job } from '../../lambdas/job/job.ts';
import { Death, declareFault, makeUnder, type Fate } from './faults.ts';
import { startInProcess, type InProcessOptions } from './inProcess.ts';
import { startReceiver, type Delivery } from './receiver.ts';

/**
 * The services in this process, with stand-ins for AWS, and processes that can die at any AWS call, before the call or before
 * its answer arrives.
 */
export type Fixture = Awaited<ReturnType<typeof openFixture>>;

export interface Received<W extends Job = Job> {
  readonly job: W;
  readonly handle: string;
  readonly queueUrl: string;
}

const realNow = Date.now.bind(Date);
/** Longer than any process's claims are valid. */
const jobsComeBackMs = 10_000;

export const idsOf = (deliveries: readonly Delivery[]): ReadonlySet<string | undefined> =>
  new Set(deliveries.map(({ headers }) => headers['svc-message-id']));

export const configOf = (config: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> =>
  new Map(Object.entries(config).map(([name, value]) => [name, [value]]));

/** Makes a publish request, as handlers pass it on. */
export const requestOf = (
  destination: string,
  config: Readonly<Record<string, string>> = {},
  body = 'work',
) => ({
  prefix: 'Svc',
  config: configOf(config),
  otherHeaders: [],
  otherQuery: [],
  destination,
  body: Buffer.from(body),
  callerIp: '127.0.0.1',
  host: 'api.example.com',
});

export function idOf({ body }: PublishAnswer): string {
  if (!('messageId' in body)) throw new Error('Several messages were published.');
  return body.messageId;
}

async function importLambdas() {
  const [
    deliver,
    perform,
    publish,
    accounts,
    stores,
    usage,
    dynamodb,
    sqs,
    settings,
    job,
    messages,
    rules,
    workflows,
  ] = await Promise.all([
    import('../../lambdas/delivery/deliver.ts'),
    import('../../lambdas/worker/perform.ts'),
    import('../../lambdas/publish/publish.ts'),
    import('../../lambdas/account/account.ts'),
    import('../../lambdas/account/accounts.ts'),
    import('../../lambdas/usage/counter.ts'),
    import('../../lambdas/aws/dynamodb.ts'),
    import('../../lambdas/aws/sqs.ts'),
    import('../../lambdas/aws/settings.ts'),
    import('../../lambdas/job/job.ts'),
    import('../../lambdas/message/history.ts'),
    import('../../lambdas/destination/rulesOfDeployment.ts'),
    import('../../lambdas/publish/workflows.ts'),
  ]);
  workflows.plugInWorkflows(() => import('../../lambdas/workflow/forPublish.ts'));
  return {
    deliver: deliver.deliver,
    perform: perform.perform,
    publishRequest: publish.publish,
    newAccount: accounts.newAccount,
    loadAccount: stores.loadAccount,
    saveAccount: stores.saveAccount,
    /** Reads an account's usage, as its first request does. */
    readUsage: async (account: Account) => (await usage.counterOf(account, Date.now())).refresh(),
    dynamodb: dynamodb.dynamodb,
    sqs: sqs.sqs,
    settings: settings.settings,
    parseJob: job.parseJob,
    loadMessage: messages.loadMessage,
    deploymentRules: rules.deploymentRules,
  };
}

export async function openFixture(options?: InProcessOptions) {
  const inProcess = await startInProcess(options);
  const receiver = await startReceiver();
  const lambdas = await importLambdas();
  const { dynamodb, sqs, settings } = lambdas;
  const account = lambdas.newAccount({
    id: 'acct',
    plan: 'paid',
    region: settings.region,
    createdAt: Date.now(),
  });
  await lambdas.saveAccount(account, undefined);
  // These values are read once in a day or in ten minutes. Their reads must not count.
  await lambdas.readUsage(account);
  await lambdas.deploymentRules();

  /** The current process's fate. A dead process's late calls still belong to it. */
  let current: Fate | undefined;
  const fates = new AsyncLocalStorage<Fate>();
  let refused: { readonly operation: string; readonly comes: () => void } | undefined;
  /** Something to do before a later call of an operation. */
  let interlude:
    | {
        readonly operation: string;
        call: number;
        readonly act: () => Promise<unknown>;
        readonly comes: () => void;
      }
    | undefined;
  let calls = 0;
  let onCall: (() => void) | undefined;
  /** The number of calls, by AWS operation. */
  let operations = new Map<string, number>();

  /** Counts a call, and fails it if the process dies at it or is already dead. */
  async function mortal<T>(operation: string, make: () => Promise<T>): Promise<T> {
    calls += 1;
    onCall?.();
    operations.set(operation, (operations.get(operation) ?? 0) + 1);
    if (interlude?.operation === operation && (interlude.call -= 1) === 0) {
      const { act, comes } = interlude;
      interlude = undefined;
      comes();
      await act();
    }
    return makeUnder(fates.getStore() ?? current, operation, make, () => {
      if (operation !== refused?.operation) return;
      refused.comes();
      throw new Death();
    });
  }

  const first = { step: 'initialize', name: 'mortal' } as const;
  dynamodb.middlewareStack.add(
    (next, context) => (args) => mortal(context.commandName ?? '', () => next(args)),
    first,
  );
  sqs.middlewareStack.add(
    (next, context) => (args) => mortal(context.commandName ?? '', () => next(args)),
    first,
  );

  /** An answer that is lost to the SDK: the call was made, and the SDK retries it. */
  let lost: { readonly operation: string; call: number; readonly comes: () => void } | undefined;
  dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      if (lost === undefined || context.commandName !== lost.operation) return result;
      lost.call -= 1;
      if (lost.call !== 0) return result;
      lost.comes();
      throw Object.assign(new Error('The answer is lost.'), { name: 'TimeoutError' });
    },
    { step: 'deserialize', name: 'lostAnswer', priority: 'high' },
  );

  function reset(): void {
    current = undefined;
    refused = undefined;
    lost = undefined;
    interlude = undefined;
    calls = 0;
    onCall = undefined;
    operations = new Map();
  }

  /**
   * Runs something in a process that may die, and counts its calls from 0. HTTP requests to this process share its fate.
   *
   * @returns its value; undefined if the process died first, or the failed call made it fail
   */
  async function underFate<T>(fate: Fate, act: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    reset();
    current = fate;
    try {
      const value = await fates.run(fate, act);
      return fate.isDeath ? undefined : { value };
    } catch (error) {
      if (!fate.hasCome) throw error;
      return undefined;
    } finally {
      current = undefined;
    }
  }

  async function receive(): Promise<readonly Received[]> {
    const found = await Promise.all(
      [settings.shortQueueUrl, settings.longQueueUrl].map(async (queueUrl) => {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
        );
        return Messages.map(({ Body = '', ReceiptHandle: handle = '' }) => ({
          job: lambdas.parseJob(Body),
          handle,
          queueUrl,
        }));
      }),
    );
    return found.flat();
  }

  /** Receives jobs, and returns the first attempt among them. */
  async function receiveAttempt(): Promise<Received<AttemptJob>> {
    for (const { job, ...from } of await receive()) if (job.kind === 'attempt') return { job, ...from };
    throw new Error('There is no attempt.');
  }

  /**
   * Does all jobs, as the event source does. A failed job is given back, even if its worker died. The next
   * worker is alive.
   */
  async function doJobs(fate?: Fate): Promise<void> {
    const givenBack = new Set<string>();
    for (;;) {
      const batch = await receive();
      if (batch.length === 0) return;
      for (const { job, handle, queueUrl } of batch) {
        const act = () =>
          lambdas.perform(job, { isAgain: givenBack.has(formatJob(job)) }).then(
            () => true,
            () => false,
          );
        const isAlive = fate === undefined || fate.hasCome;
        const isDone = isAlive ? await act() : ((await underFate(fate, act))?.value ?? false);
        if (!isDone) {
          givenBack.add(formatJob(job));
          // SQS gives back a dead worker's jobs after minutes, when its claims have ended.
          if (fate !== undefined) vi.spyOn(Date, 'now').mockImplementation(() => realNow() + jobsComeBackMs);
        }
        const message = { QueueUrl: queueUrl, ReceiptHandle: handle };
        if (isDone) await sqs.send(new DeleteMessageCommand(message));
        else await sqs.send(new ChangeMessageVisibilityCommand({ ...message, VisibilityTimeout: 0 }));
      }
    }
  }

  async function drain(): Promise<readonly Job[]> {
    const taken: Job[] = [];
    for (let batch = await receive(); batch.length > 0; batch = await receive()) {
      taken.push(...batch.map(({ job }) => job));
      for (const QueueUrl of new Set(batch.map(({ queueUrl }) => queueUrl))) {
        const Entries = batch
          .filter(({ queueUrl }) => queueUrl === QueueUrl)
          .map(({ handle }, index) => ({ Id: String(index), ReceiptHandle: handle }));
        await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
      }
    }
    return taken;
  }

  const publish = (...request: Parameters<typeof requestOf>) =>
    lambdas.publishRequest(account, requestOf(...request));

  return {
    ...lambdas,
    account,
    receiver,
    standIns: inProcess.standIns,
    /** Resets counts, and no call fails any longer. */
    reset,
    /** Drops the jobs that an earlier test left, which would be due once a test drives the clock on, and resets. */
    startTest: async (): Promise<void> => {
      const { sqs: stage, store } = inProcess.standIns;
      await store.committed();
      for (const name of queueNames) stage.queues.purge(name);
      reset();
    },
    underFate,
    /** Runs something in a process that may die, and repeats it if so, like a client without an answer. */
    again: async (fate: Fate, act: () => Promise<unknown>): Promise<void> => {
      if ((await underFate(fate, act)) === undefined) await act();
    },
    /** Makes all calls of an operation fail until the next reset. The test fails if there are no such calls. */
    refuse: (operation: string): void => {
      refused = { operation, comes: declareFault(`${operation} is refused`) };
    },
    /**
     * Loses the answer to the given call of an operation, counted from 1, until the next reset, so that the SDK retries. The
     * test fails if there are fewer calls, or if clients hand over their calls.
     */
    loseAnswer: (operation: string, call: number): void => {
      lost = { operation, call, comes: declareFault(`the answer to call ${call} of ${operation} is lost`) };
    },
    /** Does something before the nth call of an operation, counted from the last reset. The test fails if that call is never made. */
    beforeCall: (operation: string, call: number, act: () => Promise<unknown>): void => {
      interlude = { operation, call, act, comes: declareFault(`before call ${call} of ${operation}`) };
    },
    /** Does something at each AWS call until the next reset. */
    onCall: (act: () => void): void => {
      onCall = act;
    },
    /** Counts a call of a client that was made later, which may fail like the others. */
    mortal,
    calls: () => calls,
    callsOf: (operation: string): number => operations.get(operation) ?? 0,
    operations: (): Readonly<Record<string, number>> => Object.fromEntries(operations),
    receiveAttempt,
    drain,
    doJobs,
    publish,
    send: async (...request: Parameters<typeof publish>): Promise<string> => idOf(await publish(...request)),
    /** Publishes through a queue, and returns the message's id. */
    enqueue: async (queueName: string, ...request: Parameters<typeof requestOf>): Promise<string> =>
      idOf(await lambdas.publishRequest(account, { ...requestOf(...request), queueName })),
    deadLettersOf: async (messageId: string): Promise<number> => {
      let count = 0;
      let from: Record<string, AttributeValue> | undefined;
      do {
        const page = await dynamodb.send(
          new ScanCommand({
            TableName: settings.dlqTable,
            FilterExpression: 'messageId = :id AND attribute_not_exists(removedAt)',
            ExpressionAttributeValues: { ':id': { S: messageId } },
            ConsistentRead: true,
            ExclusiveStartKey: from,
          }),
        );
        count += page.Count ?? 0;
        from = page.LastEvaluatedKey;
      } while (from !== undefined);
      return count;
    },
    close: async (): Promise<void> => {
      await receiver.close();
      await inProcess.stop();
      // Otherwise it would slow down all promises of later files.
      fates.disable();
    },
  };
}
