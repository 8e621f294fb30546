/**
 * What a message costs besides what can be counted: it depends on how fast AWS and the destination answer, so it is an
 * estimate, and says from what.
 */
import type { BatchSize } from './count.ts';
import type { CpuTime } from './cpu.ts';
import { dollarsPerMillion } from './prices.ts';

/** What the estimate takes for granted. */
export const assumed = {
  /** Of publish and deliver, as they are deployed. */
  memoryMb: 512,
  /** One call of DynamoDB or SQS. */
  awsCallMs: 5,
  /** From connecting to the end of the answer. */
  destinationMs: 100,
  /** A line of the gateway's access log. */
  accessLogBytes: 216,
  /** CloudWatch adds so many bytes to each event. */
  logEventBytes: 26,
} as const;

/** Lambda gives a function a whole CPU at so much memory, and less in proportion. */
const memoryOfOneCpuMb = 1769;

/** Calls that wait for one another: the account, then row and pointer; the history, then the record. */
const callsInARow = 2;

export interface Estimate {
  readonly what: string;
  /** Dollars for a million messages. */
  readonly dollars: Readonly<Record<BatchSize, number>>;
}

export function estimate(cpu: readonly CpuTime[]): readonly Estimate[] {
  const cpuOf = (wanted: CpuTime['handler']): CpuTime => {
    const found = cpu.find(({ handler }) => handler === wanted);
    if (found === undefined) throw new Error(`The CPU time of ${wanted} was not measured.`);
    return found;
  };
  const wallMs = (handler: CpuTime['handler'], messages: number): number =>
    (messages * cpuOf(handler).medianMs * memoryOfOneCpuMb) / assumed.memoryMb +
    callsInARow * assumed.awsCallMs;
  const duration = (ms: number): number =>
    dollarsPerMillion('lambdaGbSecond', (assumed.memoryMb / 1024) * (Math.ceil(ms) / 1000));
  const publish = duration(wallMs('publish', 1));
  const deliver = (size: BatchSize): number =>
    duration(wallMs('deliver', size) + assumed.destinationMs) / size;
  const log = (bytes: number): number =>
    dollarsPerMillion('logGb', (bytes + assumed.logEventBytes) / 2 ** 30);
  const attemptLog = log(cpuOf('deliver').logBytes);
  const accessLog = log(assumed.accessLogBytes);
  return [
    { what: 'publish: its running time', dollars: { 1: publish, 10: publish } },
    { what: 'deliver: its running time', dollars: { 1: deliver(1), 10: deliver(10) } },
    { what: 'deliver: its line in the log', dollars: { 1: attemptLog, 10: attemptLog } },
    { what: 'gateway: its line in the access log', dollars: { 1: accessLog, 10: accessLog } },
  ];
}
