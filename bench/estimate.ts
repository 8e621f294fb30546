/**
 * Estimates the costs of a message that cannot be counted, because they depend on how fast AWS and the destination answer. The
 * assumptions are printed with the result.
 */
import type { BatchSize } from './count.ts';
import type { CpuTime } from './cpu.ts';
import { dollarsPerMillion } from './prices.ts';

/** The assumptions of the estimate. */
export const assumed = {
  /** The memory of publish and deliver, as they are deployed. */
  memoryMb: 512,
  /** The duration of one call of DynamoDB or SQS. */
  awsCallMs: 5,
  /** The time from connecting to a destination to the end of its answer. */
  destinationMs: 100,
  /** The size of a line of the gateway's access log. */
  accessLogBytes: 216,
  /** CloudWatch bills so many bytes more for each line. */
  logEventBytes: 26,
} as const;

/** With so much memory Lambda gives a function a whole CPU, with less a part in proportion. */
export const memoryOfOneCpuMb = 1769;

/** Calls that wait for each other. In publish: the account, then row and attempt. In deliver: the history, then the record. */
const callsInARow = 2;

export interface Estimate {
  readonly what: string;
  /** Dollars for a million messages. */
  readonly dollars: Readonly<Record<BatchSize, number>>;
}

/** @param urlLogBytes the size of a request's line in the log of publish, where it came through the publish URL */
export function estimate(
  cpu: readonly CpuTime[],
  urlLogBytes: number,
): { readonly throughApi: readonly Estimate[]; readonly urlLine: Estimate } {
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
  const publishLog = log(cpuOf('publish').logBytes);
  // Through the URL it logs the request besides.
  const urlLog = log(urlLogBytes - cpuOf('publish').logBytes);
  return {
    throughApi: [
      { what: 'publish: its running time', dollars: { 1: publish, 10: publish } },
      { what: 'publish: its metrics in the log', dollars: { 1: publishLog, 10: publishLog } },
      { what: 'deliver: its running time', dollars: { 1: deliver(1), 10: deliver(10) } },
      { what: 'deliver: its line and its metrics in the log', dollars: { 1: attemptLog, 10: attemptLog } },
      { what: 'gateway: its line in the access log', dollars: { 1: accessLog, 10: accessLog } },
    ],
    urlLine: { what: 'publish URL: its line in the log, instead', dollars: { 1: urlLog, 10: urlLog } },
  };
}
