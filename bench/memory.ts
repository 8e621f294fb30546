/**
 * Computes what the running time of publish and deliver costs, and how long it is, at several sizes of memory. CPU comes with
 * memory, up to a whole one at 1,769 MB; waiting takes as long with any.
 */
import { assumed, memoryOfOneCpuMb } from './estimate.ts';
import { dollarsPerMillion } from './prices.ts';

export const memorySizesMb = [256, 512, 1_024, memoryOfOneCpuMb] as const;

/** CPU milliseconds of a message. */
export interface MessageCpu {
  readonly publish: number;
  readonly deliver: number;
}

export interface MemoryCost {
  readonly memoryMb: number;
  /** Milliseconds that an invocation of publish takes, warm. */
  readonly publishMs: number;
  /** Milliseconds that an invocation of deliver takes with a batch of ten, warm, the destination's time included. */
  readonly deliverMs: number;
  /** Dollars for a million messages, delivered in batches of ten. */
  readonly dollars: number;
}

const batchSize = 10;
const callsInARow = 2;

export const memoryCosts = (cpu: MessageCpu): readonly MemoryCost[] =>
  memorySizesMb.map((memoryMb) => {
    const slower = memoryOfOneCpuMb / memoryMb;
    const callsMs = callsInARow * assumed.awsCallMs;
    const publishMs = cpu.publish * slower + callsMs;
    const deliverMs = batchSize * cpu.deliver * slower + callsMs + assumed.destinationMs;
    const gbSeconds = ((memoryMb / 1_024) * (publishMs + deliverMs / batchSize)) / 1_000;
    return { memoryMb, publishMs, deliverMs, dollars: dollarsPerMillion('lambdaGbSecond', gbSeconds) };
  });
