/**
 * Computes the cost and duration of publish and deliver at several memory sizes. CPU grows with memory, up to a whole CPU at
 * 1,769 MB.
 */
import { assumed, durationMs, memoryOfOneCpuMb, runningDollars } from '../verify/prices/estimate.ts';

const memorySizesMb = [256, 512, 1_024, memoryOfOneCpuMb] as const;

const batchSize = 10;

/** @param cpu milliseconds for a message */
export const memoryCosts = (cpu: { readonly publish: number; readonly deliver: number }) =>
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
      /** Milliseconds of a warm invocation with a batch of ten, including the destination's time. */
      deliverMs: durationMs(deliver),
      /** Dollars for a million messages in batches of ten. */
      dollars: runningDollars(publish) + runningDollars(deliver) / batchSize,
    };
  });
