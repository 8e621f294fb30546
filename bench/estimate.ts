/**
 * Estimates the costs of a message that cannot be counted, because they depend on how fast AWS and the destination answer. The
 * assumptions are printed with the result.
 */
import { functionMemoryMb } from '../lambdas/aws/resources.ts';
import { dollarsPerMillion, type PricedRegion } from './prices.ts';

/** The assumptions of the estimate. */
export const assumed = {
  /** The memory of publish and deliver, as they are deployed. */
  memoryMb: functionMemoryMb,
  /** The duration of one call of DynamoDB or SQS. */
  awsCallMs: 5,
  /** The time from connecting to a destination to the end of its answer. */
  destinationMs: 100,
  /** CPU for a message of 1 KB, with a whole CPU; `bench messages` measures it. */
  cpuMs: { publish: 1.8, deliver: 1.4 },
  /** More CPU for each further KB of the body: 64 to 256 KB took so much, in each of the two. */
  cpuMsPerKb: 0.02,
  /** Bytes of the log. `bench messages` fails when it finds others. */
  logBytes: {
    /** The metrics of a publish, in the log of its function. */
    publish: 188,
    /** The line of a request to the publish URL, on top. */
    urlRequest: 345,
    /** The line of an attempt. */
    attempt: 339,
    /** The metrics of an invocation of deliver, and what each of its messages adds to them. */
    deliverMetrics: 379,
    deliverTimes: 14,
  },
  /** The size of a line of the gateway's access log. */
  accessLogBytes: 216,
  /** CloudWatch bills so many bytes more for each line. */
  logEventBytes: 26,
  /** The head of a request to a destination, with the two signatures of each of the two dialects. */
  requestHeadBytes: 1_500,
  /** The answer to a publish, with its head. */
  answerBytes: 500,
  /** The metrics that a message which is accepted and delivered writes; one with a fault or a retry writes others. */
  metrics: 5,
} as const;

/** With so much memory Lambda gives a function a whole CPU, with less a part in proportion. */
export const memoryOfOneCpuMb = 1769;

/** Calls that wait for each other. In publish: the account, then row and attempt. In deliver: the history, then the record. */
const callsInARow = 2;

interface Invocation {
  readonly of: 'publish' | 'deliver';
  readonly messages: number;
  /** The size of each message's body. */
  readonly kb?: number;
  readonly memoryMb?: number;
  /** The time that the slowest of the destinations takes; none for publish. */
  readonly destinationMs?: number;
  /** A measured time for a message, in place of the assumed one. */
  readonly cpuMs?: number;
}

/** Milliseconds that an invocation takes. Attempts of a batch go to their destinations at the same time. */
export function durationMs({
  of,
  messages,
  kb = 1,
  memoryMb = assumed.memoryMb,
  destinationMs = 0,
  cpuMs = assumed.cpuMs[of] + (kb - 1) * assumed.cpuMsPerKb,
}: Invocation): number {
  const slower = Math.max(1, memoryOfOneCpuMb / memoryMb);
  return messages * cpuMs * slower + callsInARow * assumed.awsCallMs + destinationMs;
}

/** Dollars for a million invocations. Lambda rounds each up to the next millisecond. */
export const runningDollars = (invocation: Invocation, region?: PricedRegion): number =>
  dollarsPerMillion(
    'lambdaGbSecond',
    ((invocation.memoryMb ?? assumed.memoryMb) / 1024) * (Math.ceil(durationMs(invocation)) / 1000),
    region,
  );

const logGb = (bytes: number): number => (bytes + assumed.logEventBytes) / 2 ** 30;

interface LogOptions {
  /** The messages of an invocation of deliver. */
  readonly batch: number;
  readonly passesGateway: boolean;
  /** Whether the log has a line for each attempt and each request to the publish URL: not with `logLevel=WARN`. */
  readonly hasLines: boolean;
}

/** Gigabytes of the log for each message. */
export function messageLogGb({ batch, passesGateway, hasLines }: LogOptions): number {
  const { publish, urlRequest, attempt, deliverMetrics, deliverTimes } = assumed.logBytes;
  return (
    logGb(publish) +
    logGb(deliverMetrics + batch * deliverTimes) / batch +
    (passesGateway ? logGb(assumed.accessLogBytes) : 0) +
    (hasLines ? logGb(attempt) + (passesGateway ? 0 : logGb(urlRequest)) : 0)
  );
}
