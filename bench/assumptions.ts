import { batchSize as measuredBatch, type CpuTime } from './cpu.ts';
import { assumed } from '../verify/prices/estimate.ts';

/** The share by which a measured size may differ from the assumed one. */
const tolerance = 0.1;

/**
 * Compares assumed bytes of the log with measured ones.
 *
 * @param urlLogBytes the bytes that publish logs for a request to the publish URL
 * @returns the differences, as sentences
 */
export function wrongAssumptions(cpu: readonly CpuTime[], urlLogBytes: number): readonly string[] {
  const { publish, urlRequest, attempt, deliverMetrics, deliverTimes } = assumed.logBytes;
  const expected = {
    publish,
    deliver: attempt + deliverTimes + deliverMetrics / measuredBatch,
    'the publish URL': publish + urlRequest,
  };
  const measured = cpu.map(({ handler, logBytes }) => [handler, logBytes] as const);
  return [...measured, ['the publish URL', urlLogBytes] as const]
    .filter(([name, bytes]) => Math.abs(bytes / expected[name] - 1) > tolerance)
    .map(
      ([name, bytes]) =>
        `The log of ${name} takes ${bytes.toFixed(0)} bytes a message; the bill assumes ${expected[name].toFixed(0)}.`,
    );
}
