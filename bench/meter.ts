/**
 * Counts this process's requests to AWS, and what AWS bills for them. The clients that carry messages are watched from inside,
 * where payloads can be measured. All HTTP requests are watched from outside too, so that retries and other clients count.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import type { StandIns } from '../local/stage/standIns.ts';
import { DynamodbUses, type Step } from './dynamodbUses.ts';
import { sqsRequests } from './units.ts';

export interface Use extends Step {
  readonly by: string;
}

export interface CountedUse extends Use {
  /** The number of the call in its measurement. One call may have several uses. */
  readonly call: number;
}

export interface Meter {
  measure(by: string, work: () => Promise<void>): Promise<readonly CountedUse[]>;
  /**
   * Does some work without measuring it. Updates are billed by the previous row, so a row that is written here must be written
   * again before it can be measured.
   */
  ignore(work: () => Promise<void>): Promise<void>;
  watch(clients: Clients): void;
  close(): void;
}

interface Clients {
  readonly dynamodb: DynamoDBClient;
  readonly sqs: SQSClient;
}

type RecordStep = (step: Step) => void;

class Measurement {
  /** The uses of each call, in the order in which the calls started. */
  readonly #calls: Step[][] = [];
  #told = 0;
  /** The number of HTTP requests of both clients that a watcher of the network saw. */
  #seen = 0;

  beginTold(): RecordStep {
    this.#told += 1;
    return this.begin();
  }

  begin(): RecordStep {
    const steps: Step[] = [];
    this.#calls.push(steps);
    return (step) => steps.push(step);
  }

  noteSeen(): void {
    this.#seen += 1;
  }

  usesBy(by: string): readonly CountedUse[] {
    if (this.#told !== this.#seen) {
      throw new Error(`${by} made ${this.#seen} requests, of which ${this.#told} are accounted for.`);
    }
    return this.#calls.flatMap((steps, call) => steps.map((step) => ({ by, ...step, call })));
  }
}

type Current = () => Measurement | undefined;

/** @throws Error from `measure` if no client reported a request, or if DynamoDB counts other units */
export function attachMeter(own: Clients, standIns: StandIns): Meter {
  let current: Measurement | undefined;
  let ignoring = false;
  const rules = new DynamodbUses();
  const watch = ({ dynamodb, sqs }: Clients): void => {
    watchDynamodb(
      dynamodb,
      rules,
      () => current,
      () => ignoring,
    );
    watchSqs(sqs, () => current);
  };
  watch(own);
  const close = watchRequests(standIns, () => current);
  return {
    watch,
    close,
    ignore: async (work) => {
      ignoring = true;
      try {
        await work();
      } finally {
        ignoring = false;
      }
    },
    measure: async (by, work) => {
      const measurement = new Measurement();
      current = measurement;
      try {
        await work();
      } finally {
        current = undefined;
      }
      return measurement.usesBy(by);
    },
  };
}

function watchDynamodb(
  { middlewareStack }: DynamoDBClient,
  rules: DynamodbUses,
  current: Current,
  isIgnoring: () => boolean,
): void {
  middlewareStack.add(
    (next, context) => async (args) => {
      if (isIgnoring()) return next(args);
      const operation = operationOf(context.commandName);
      const record = current()?.beginTold();
      // An update is billed by the whole row, so the row is requested even if the caller doesn't need it.
      const asked =
        operation === 'UpdateItem' ? { ReturnValues: 'ALL_NEW' as const, ...args.input } : args.input;
      if (record === undefined) {
        const result = await next({ ...args, input: asked });
        rules.note(operation, asked, result.output);
        return result;
      }
      const input = { ...asked, ReturnConsumedCapacity: 'INDEXES' as const };
      try {
        const result = await next({ ...args, input });
        rules.usesOf(operation, input, result.output).forEach(record);
        return result;
      } catch (error) {
        if (isRefused(error)) record(rules.refused(operation, input));
        throw error;
      }
    },
    { step: 'initialize', name: 'meter' },
  );
}

/** Compared by name, because a bundle has a separate class. */
const isRefused = (error: unknown): boolean =>
  error instanceof Error && error.name === ConditionalCheckFailedException.name;

function watchSqs({ middlewareStack }: SQSClient, current: Current): void {
  middlewareStack.add(
    (next, context) => (args) => {
      const record = current()?.beginTold();
      if (record !== undefined) sqsUses(operationOf(context.commandName), args.input).forEach(record);
      return next(args);
    },
    { step: 'initialize', name: 'meter' },
  );
}

/**
 * Watches all HTTP requests. Those of the two clients are counted, and others are uses themselves.
 *
 * @returns a function that stops watching
 */
function watchRequests(standIns: StandIns, current: Current): () => void {
  type Note = (measurement: Measurement, method: string) => void;
  const countSeen: Note = (measurement) => {
    measurement.noteSeen();
  };
  const noting =
    (stepsOf: (method: string) => readonly Step[]): Note =>
    (measurement, method) => {
      stepsOf(method).forEach(measurement.begin());
    };
  const notes: readonly (readonly [url: string, note: Note])[] = [
    [standIns.urls.dynamodb, countSeen],
    [standIns.sqs.url, countSeen],
    [
      standIns.urls.s3,
      noting((method) => [
        { what: `${method} object`, unit: method === 'GET' ? 's3Get' : 's3Put', amount: 1 },
      ]),
    ],
    [standIns.urls.secrets, noting(() => [{ what: 'GetSecretValue', unit: 'secretRead', amount: 1 }])],
    [standIns.scheduler.url, noting((method) => schedulerUses[method] ?? [])],
  ];
  const byHost = new Map(notes.map(([url, note]) => [new URL(url).host, note]));
  const seen = (message: unknown): void => {
    const { request } = httpRequest.parse(message);
    const measurement = current();
    if (measurement !== undefined)
      byHost.get(String(request.getHeader('host')))?.(measurement, request.method);
  };
  subscribe(requestStarts, seen);
  return () => void unsubscribe(requestStarts, seen);
}

const requestStarts = 'http.client.request.start';

export const scheduledCall = 'CreateSchedule, and its sending';

const httpRequest = z.object({ request: z.instanceof(ClientRequest) });

/** Scheduler bills only what it sends, so a deleted schedule costs nothing. */
const schedulerUses: Readonly<Record<string, readonly Step[]>> = {
  POST: [{ what: scheduledCall, unit: 'scheduled', amount: 1 }],
  DELETE: [{ what: 'DeleteSchedule, so not sent', unit: 'scheduled', amount: -1 }],
};

/** `PutItemCommand` becomes `PutItem`. */
const operationOf = (commandName: string | undefined): string => (commandName ?? '').replace(/Command$/, '');

const outgoing = z.object({ MessageBody: z.string(), MessageGroupId: z.optional(z.string()) });
const sends = {
  SendMessage: z.pipe(
    outgoing,
    z.transform((one) => [one]),
  ),
  SendMessageBatch: z.pipe(
    z.object({ Entries: z.array(outgoing) }),
    z.transform(({ Entries }) => Entries),
  ),
};
const isSend = (operation: string): operation is keyof typeof sends => Object.hasOwn(sends, operation);

export const pumpMark = ', a pump';
/** The suffix of a call that sends a job again because it could not be done now. */
export const returnMark = ', again';

/** Calls that are one request regardless of size: "Every Amazon SQS action counts as a request" (Amazon SQS pricing). */
const plainCalls: readonly string[] = [
  'DeleteMessage',
  'DeleteMessageBatch',
  'ChangeMessageVisibility',
  'ChangeMessageVisibilityBatch',
];

/** A call that sends several messages is billed by their total bytes. */
function sqsUses(operation: string, input: object): readonly Step[] {
  if (plainCalls.includes(operation)) return [{ what: operation, unit: 'sqsRequest', amount: 1 }];
  if (!isSend(operation)) throw new Error(`There is no rule here for SQS's ${operation}.`);
  const messages = sends[operation].parse(input);
  const bytes = messages.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
  const amount = sqsRequests(bytes);
  const has = (text: string): boolean => messages.some(({ MessageBody }) => MessageBody.includes(text));
  const mark = has('"returns":') ? returnMark : has('"kind":"pump"') ? pumpMark : '';
  const isFair = messages.some(({ MessageGroupId }) => MessageGroupId !== undefined);
  return [
    { what: operation + mark, unit: 'sqsRequest', amount },
    ...(isFair ? [{ what: 'its group (fair queue)', unit: 'sqsGroup' as const, amount }] : []),
  ];
}
