/**
 * Computes the cost and duration of publish and deliver at several memory sizes. CPU grows with memory, up to a whole CPU at
 * 1,769 MB.
 */
import { assumed, durationMs, memoryOfOneCpuMb, runningDollars } from '../bill/estimate.ts';

export const memorySizesMb = [256, 512, 1_024, memoryOfOneCpuMb] as const;

export interface MessageCpu {
  readonly publish: number;
  readonly deliver: number;
}

export interface MemoryCost {
  readonly memoryMb: number;
  readonly publishMs: number;
  /** Milliseconds of a warm invocation of deliver with a batch of ten, including the destination's time. */
  readonly deliverMs: number;
  /** Dollars for a million messages in batches of ten. */
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
