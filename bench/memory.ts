/**
 * Computes what the running time of publish and deliver costs, and how long it is, at several sizes of memory. CPU comes with
 * memory, up to a whole one at 1,769 MB; waiting takes as long with any.
 */
import { assumed, durationMs, memoryOfOneCpuMb, runningDollars } from './estimate.ts';

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

export const memoryCosts = (cpu: MessageCpu): readonly MemoryCost[] =>
  memorySizesMb.map((memoryMb) => {
    const { destinationMs } = assumed;
    const publish = { of: 'publish', messages: 1, memoryMb, cpuMs: cpu.publish } as const;
    const deliver = {
      of: 'deliver',
      messages: batchSize,
      memoryMb,
      destinationMs,
      cpuMs: cpu.deliver,
    } as const;
    return {
      memoryMb,
      publishMs: durationMs(publish),
      deliverMs: durationMs(deliver),
      dollars: runningDollars(publish) + runningDollars(deliver) / batchSize,
    };
  });
