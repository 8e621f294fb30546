/** Estimates the costs that cannot be counted, because they depend on the speed of AWS and of destinations. */
import { deliveryMemoryMb, functionMemoryMb } from '../../lambdas/aws/resources.ts';
import { dollarsPerMillion, type PricedRegion } from './prices.ts';

export const assumed = {
  /** As deployed by default. */
  memoryMb: { publish: functionMemoryMb, deliver: deliveryMemoryMb },
  awsCallMs: 5,
  /** From connecting to a destination to the end of its answer. */
  destinationMs: 100,
  /** CPU for a message of 1 KB on a whole CPU, measured by `bench messages`. */
  cpuMs: { publish: 1.8, deliver: 1.4 },
  /** Additional CPU per KB of the body, in each function. Measured with 64 to 256 KB. */
  cpuMsPerKb: 0.02,
  /** The sizes of the log, in bytes. `bench messages` fails if they differ. */
  logBytes: {
    publish: 188,
    /** An additional line for a request to the publish URL. */
    urlRequest: 345,
    attempt: 339,
    /** The metrics of an invocation of deliver, and what each message adds. */
    deliverMetrics: 379,
    deliverTimes: 14,
  },
  accessLogBytes: 216,
  /** CloudWatch bills this many bytes more per line. */
  logEventBytes: 26,
  /** The head of a request to a destination, with two signatures in each of two dialects. */
  requestHeadBytes: 1_500,
  answerBytes: 500,
  /** The metrics of a message that is accepted and delivered. A fault or a retry adds others. */
  metrics: 5,
} as const;

/** With this much memory, a function gets a whole CPU; with less, a proportional share. */
export const memoryOfOneCpuMb = 1769;

/**
 * How many calls follow one another. Publish: the account, then row and attempt. Deliver: the history, then
 * the record.
 */
const callsInARow = 2;

interface Invocation {
  readonly of: 'publish' | 'deliver';
  readonly messages: number;
  readonly kb?: number;
  readonly memoryMb?: number;
  /** The answer time of the slowest destination; none for publish. */
  readonly destinationMs?: number;
  readonly cpuMs?: number;
}

/** The duration of an invocation, in milliseconds. A batch's attempts run at the same time. */
export function durationMs({
  of,
  messages,
  kb = 1,
  memoryMb = assumed.memoryMb[of],
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
    ((invocation.memoryMb ?? assumed.memoryMb[invocation.of]) / 1024) *
      (Math.ceil(durationMs(invocation)) / 1000),
    region,
  );

const logGb = (bytes: number): number => (bytes + assumed.logEventBytes) / 2 ** 30;

interface LogOptions {
  readonly batch: number;
  readonly passesGateway: boolean;
  /** Whether the log has a line for each attempt and each request to the publish URL: with `logLevel=INFO`. */
  readonly hasLines: boolean;
}

export function messageLogGb({ batch, passesGateway, hasLines }: LogOptions): number {
  const { publish, urlRequest, attempt, deliverMetrics, deliverTimes } = assumed.logBytes;
  return (
    logGb(publish) +
    logGb(deliverMetrics + batch * deliverTimes) / batch +
    (passesGateway ? logGb(assumed.accessLogBytes) : 0) +
    (hasLines ? logGb(attempt) + (passesGateway ? 0 : logGb(urlRequest)) : 0)
  );
}
