import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Account } from '../../lambdas/account/account.ts';
import type { PublishAnswer } from '../../lambdas/publish/accept.ts';
import { formatJob, type AttemptJob, type Job } from '../../lambdas/job/job.ts';
import { Death, declareFault, makeUnder, type Fate } from './faults.ts';
import { startInProcess, type InProcessOptions } from './inProcess.ts';
import { startReceiver, type Delivery } from './receiver.ts';

/**
 * The services in this very process, over the stand-ins for AWS, with a process that can be made to die: at each of its AWS calls,
 * once before the call is made and once after it was made but before its answer is seen.
 */
export type Fixture = Awaited<ReturnType<typeof openFixture>>;

export interface Received<W extends Job = Job> {
  readonly job: W;
  readonly handle: string;
  readonly queueUrl: string;
}

export const idsOf = (deliveries: readonly Delivery[]): ReadonlySet<string | undefined> =>
  new Set(deliveries.map(({ headers }) => headers['svc-message-id']));

/** Settings of a request, by canonical name. */
export const configOf = (config: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> =>
  new Map(Object.entries(config).map(([name, value]) => [name, [value]]));

/** Makes a request to publish, in the form in which handlers pass it. */
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

/** The id of the only published message. */
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
    import('../../lambdas/job/parseJob.ts'),
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
    /** Reads the usage of an account, as its first request does. */
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
  // These values are read once a day, or once in ten minutes: their reads must not count as calls of a message.
  await lambdas.readUsage(account);
  await lambdas.deploymentRules();

  /** The fate of the current process; a late call of a dead process still belongs to that process. */
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
  /** The number of calls of each AWS operation. */
  let operations = new Map<string, number>();

  /** Counts a call, and makes it fail when the process dies at it or has died before. */
  async function mortal<T>(operation: string, make: () => Promise<T>): Promise<T> {
    calls += 1;
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

  /** The lost answer, to one of the SDK's own tries: the call was made, and the SDK makes it again. */
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
    operations = new Map();
  }

  /**
   * Runs something in a process that may die meanwhile, and counts its calls from 0. HTTP requests that it causes in the same
   * process share its fate.
   *
   * @returns its value; undefined when the process died before there was one, or when the failed call made it fail
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
   * Does all jobs until none is left, as the event source does. A failed job is given back, and so is that of a worker that dies;
   * the next worker lives.
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
        if (!isDone) givenBack.add(formatJob(job));
        const message = { QueueUrl: queueUrl, ReceiptHandle: handle };
        if (isDone) await sqs.send(new DeleteMessageCommand(message));
        else await sqs.send(new ChangeMessageVisibilityCommand({ ...message, VisibilityTimeout: 0 }));
      }
    }
  }

  /** Takes all jobs out of the queues. */
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
    /** Counts from 0 again; no call fails. */
    reset,
    underFate,
    /** Runs something in a process that may die meanwhile, and again if it did: like a client that got no answer. */
    again: async (fate: Fate, act: () => Promise<unknown>): Promise<void> => {
      if ((await underFate(fate, act)) === undefined) await act();
    },
    /** Lets every call of an operation fail, until the next reset. The test fails if there is none. */
    refuse: (operation: string): void => {
      refused = { operation, comes: declareFault(`${operation} is refused`) };
    },
    /**
     * Loses the answer to one call of an operation, the first being 1, until the next reset: the SDK asks again. The test fails if
     * there are fewer calls, or if clients hand over their calls.
     */
    loseAnswer: (operation: string, call: number): void => {
      lost = { operation, call, comes: declareFault(`the answer to call ${call} of ${operation} is lost`) };
    },
    /** Does something before the nth call of an operation, counted from the last reset. The test fails if that call is never made. */
    beforeCall: (operation: string, call: number, act: () => Promise<unknown>): void => {
      interlude = { operation, call, act, comes: declareFault(`before call ${call} of ${operation}`) };
    },
    /** Counts a call of a client that was made later, and lets it fail as the others do. */
    mortal,
    /** AWS calls since the last reset. */
    calls: () => calls,
    callsOf: (operation: string): number => operations.get(operation) ?? 0,
    /** The calls since the last reset by their operations. */
    operations: (): Readonly<Record<string, number>> => Object.fromEntries(operations),
    receiveAttempt,
    drain,
    doJobs,
    publish,
    /** Publishes to a URL, and returns the message's id. */
    send: async (...request: Parameters<typeof publish>): Promise<string> => idOf(await publish(...request)),
    /** Publishes to a URL through a queue, and returns the message's id. */
    enqueue: async (queueName: string, ...request: Parameters<typeof requestOf>): Promise<string> =>
      idOf(await lambdas.publishRequest(account, { ...requestOf(...request), queueName })),
    deadLettersOf: async (messageId: string): Promise<number> => {
      const { Count = 0 } = await dynamodb.send(
        new ScanCommand({
          TableName: settings.dlqTable,
          FilterExpression: 'messageId = :id AND attribute_not_exists(removedAt)',
          ExpressionAttributeValues: { ':id': { S: messageId } },
          ConsistentRead: true,
        }),
      );
      return Count;
    },
    close: async (): Promise<void> => {
      await receiver.close();
      await inProcess.stop();
      // Left enabled, it would make every promise of later files slower.
      fates.disable();
    },
  };
}
