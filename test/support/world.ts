import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { Account } from '../../lambdas/domain/account/account.ts';
import type { PublishAnswer } from '../../lambdas/services/message/publications.ts';
import { formatWork, type AttemptWork, type Work } from '../../lambdas/domain/work/work.ts';
import { startInProcess } from './inProcess.ts';
import { startReceiver, type Delivery } from './receiver.ts';
import { spreadOf } from './sample.ts';
import { takeSteps } from './takeSteps.ts';

/**
 * The services in this very process, over the stand-ins for AWS, with a process that can be made to die: at each of its
 * AWS calls, once before the call is made and once after it was made but before its answer is seen.
 */
export type World = Awaited<ReturnType<typeof openWorld>>;

/** The process is dead: this call, and every call after it, fails. */
export class Death extends Error {}

export interface Fate {
  /** The AWS call at which it comes, the first being 1. */
  readonly call: number;
  readonly when: 'before' | 'after';
  /** Only that one call fails; the process lives on. */
  readonly survived?: boolean;
}

/**
 * Deaths at so many AWS calls, before and after each. A run that takes a sample spreads fewer over them, before one and after
 * another, the first and the last among them.
 *
 * @param every see {@link spreadOf}
 */
export const deathsAt = (calls: number, every?: Parameters<typeof spreadOf>[1]): readonly Fate[] =>
  spreadOf(
    Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) =>
      (['before', 'after'] as const).map((when) => ({ call, when })),
    ),
    every,
  );

export interface Received<W extends Work = Work> {
  readonly work: W;
  readonly handle: string;
  readonly queueUrl: string;
}

export const idsOf = (deliveries: readonly Delivery[]): ReadonlySet<string | undefined> =>
  new Set(deliveries.map(({ headers }) => headers['svc-message-id']));

/** Settings of a request, by canonical name. */
export const configOf = (config: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> =>
  new Map(Object.entries(config).map(([name, value]) => [name, [value]]));

/** A request to publish, as the handlers hand it on. */
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

/** The id of the one message that was published. */
export function idOf({ body }: PublishAnswer): string {
  if (!('messageId' in body)) throw new Error('Several messages were published.');
  return body.messageId;
}

async function importLambdas() {
  const [deliver, perform, publish, accounts, stores, usage, dynamodb, sqs, settings, work, messages, rules] =
    await Promise.all([
      import('../../lambdas/services/delivery/deliver.ts'),
      import('../../lambdas/services/work/perform.ts'),
      import('../../lambdas/services/message/publish.ts'),
      import('../../lambdas/domain/account/account.ts'),
      import('../../lambdas/stores/account/accounts.ts'),
      import('../../lambdas/services/usage/counter.ts'),
      import('../../lambdas/stores/dynamodb.ts'),
      import('../../lambdas/transport/sqs.ts'),
      import('../../lambdas/settings.ts'),
      import('../../lambdas/domain/work/parseWork.ts'),
      import('../../lambdas/stores/message/history.ts'),
      import('../../lambdas/services/delivery/destinations.ts'),
    ]);
  return {
    deliver: deliver.deliver,
    perform: perform.perform,
    publishRequest: publish.publish,
    newAccount: accounts.newAccount,
    loadAccount: stores.loadAccount,
    saveAccount: stores.saveAccount,
    /** Reads what an account has used, as its first request does. */
    readUsage: async (account: Account) => (await usage.counterOf(account, Date.now())).refresh(),
    dynamodb: dynamodb.dynamodb,
    sqs: sqs.sqs,
    settings: settings.settings,
    parseWork: work.parseWork,
    loadMessage: messages.loadMessage,
    deploymentRules: rules.deploymentRules,
  };
}

export async function openWorld() {
  const inProcess = await startInProcess();
  const receiver = await startReceiver();
  const lambdas = await importLambdas();
  const { perform, dynamodb, sqs, settings } = lambdas;
  const account = lambdas.newAccount({
    id: 'acct',
    plan: 'paid',
    region: settings.region,
    createdAt: Date.now(),
  });
  await lambdas.saveAccount(account, undefined);
  // Reads what a process reads once a day, or once in ten minutes, so that it is not among the calls of a message.
  await lambdas.readUsage(account);
  await lambdas.deploymentRules();

  let fate: Fate | undefined;
  let refused: string | undefined;
  let calls = 0;
  /** The number of calls of each AWS operation. */
  let operations = new Map<string, number>();

  /** Counts a call, and makes it fail when the process dies at it or has died before. */
  async function mortal<T>(operation: string, make: () => Promise<T>): Promise<T> {
    calls += 1;
    operations.set(operation, (operations.get(operation) ?? 0) + 1);
    const mine = calls;
    const fails = (when: Fate['when']): boolean =>
      fate !== undefined &&
      ((mine === fate.call && fate.when === when) || (mine > fate.call && fate.survived !== true));
    if (fails('before') || operation === refused) throw new Death();
    const result = await make();
    if (fails('after')) throw new Death();
    return result;
  }

  takeSteps(dynamodb, sqs);
  const options = { step: 'initialize', name: 'mortal' } as const;
  dynamodb.middlewareStack.add(
    (next, context) => (args) => mortal(context.commandName ?? '', () => next(args)),
    options,
  );
  sqs.middlewareStack.add(
    (next, context) => (args) => mortal(context.commandName ?? '', () => next(args)),
    options,
  );

  /** The answer that is lost, to one of the SDK's own tries: the call was made, and the SDK makes it again. */
  let lost: { readonly operation: string; call: number } | undefined;
  dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      if (lost === undefined || context.commandName !== lost.operation) return result;
      lost.call -= 1;
      if (lost.call !== 0) return result;
      throw Object.assign(new Error('The answer is lost.'), { name: 'TimeoutError' });
    },
    { step: 'deserialize', name: 'lostAnswer', priority: 'high' },
  );

  function reset(death?: Fate): void {
    fate = death;
    refused = undefined;
    lost = undefined;
    calls = 0;
    operations = new Map();
  }

  async function receive(): Promise<readonly Received[]> {
    const found = await Promise.all(
      [settings.shortQueueUrl, settings.longQueueUrl].map(async (queueUrl) => {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
        );
        return Messages.map(({ Body = '', ReceiptHandle: handle = '' }) => ({
          work: lambdas.parseWork(Body),
          handle,
          queueUrl,
        }));
      }),
    );
    return found.flat();
  }

  /** Receives work, and returns the first attempt in it. */
  async function receiveAttempt(): Promise<Received<AttemptWork>> {
    for (const { work, ...from } of await receive()) if (work.kind === 'attempt') return { work, ...from };
    throw new Error('There is no attempt.');
  }

  /** Does all work until none is left, as the event source does; a worker that dies gives its work back. */
  async function work(death?: Fate): Promise<number> {
    let made = 0;
    let alive = death === undefined;
    const givenBack = new Set<string>();
    for (;;) {
      const batch = await receive();
      if (batch.length === 0) return made;
      for (const { work, handle, queueUrl } of batch) {
        if (!alive) reset(death && { ...death, call: death.call - made });
        const done = await perform(work, { isAgain: givenBack.has(formatWork(work)) }).then(
          () => true,
          () => false,
        );
        if (!alive) made += calls;
        if (!done) alive = true;
        if (!done) givenBack.add(formatWork(work));
        fate = undefined;
        const message = { QueueUrl: queueUrl, ReceiptHandle: handle };
        if (done) await sqs.send(new DeleteMessageCommand(message));
        else await sqs.send(new ChangeMessageVisibilityCommand({ ...message, VisibilityTimeout: 0 }));
      }
    }
  }

  /** Takes all work out of the queues. */
  async function drain(): Promise<readonly Work[]> {
    const taken: Work[] = [];
    for (let batch = await receive(); batch.length > 0; batch = await receive()) {
      taken.push(...batch.map(({ work }) => work));
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
    /** Starts to count anew, for a process that lives on, or for one that dies. */
    reset,
    /** Lets every call of an operation fail, until the next reset. */
    refuse: (operation: string): void => {
      refused = operation;
    },
    /** Loses the answer to one call of an operation, the first being 1, until the next reset: the SDK asks again. */
    loseAnswer: (operation: string, call: number): void => {
      lost = { operation, call };
    },
    /** Counts a call of a client that was made later, and lets it fail as the others do. */
    mortal,
    /** AWS calls since the last reset. */
    calls: () => calls,
    callsOf: (operation: string): number => operations.get(operation) ?? 0,
    /** The calls since then by their operations. */
    operations: (): Readonly<Record<string, number>> => Object.fromEntries(operations),
    receiveAttempt,
    drain,
    work,
    publish,
    /** Publishes to a URL, and returns the message's id. */
    send: async (...request: Parameters<typeof publish>): Promise<string> => idOf(await publish(...request)),
    /** Publishes to a URL by way of a queue, and returns the message's id. */
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
    },
  };
}
