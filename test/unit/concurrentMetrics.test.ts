import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, it, vi } from 'vitest';
import { switchMetricsOn } from '../support/metricFixture.ts';
import { metricLines, metricValues } from '../support/metrics.ts';

/** Tests metrics of a process with simultaneous invocations, as on a managed instance. */

switchMetricsOn();
process.env['POWERTOOLS_METRICS_NAMESPACE'] = 'Svc';
process.env['AWS_LAMBDA_MAX_CONCURRENCY'] = '64';
// Stands in for Lambda’s runtime, which has a store for each invocation.
const invocations = new AsyncLocalStorage<Map<symbol, unknown>>();
vi.stubGlobal('awslambda', {
  InvokeStore: {
    hasContext: () => invocations.getStore() !== undefined,
    get: (key: symbol) => invocations.getStore()?.get(key),
    set: (key: symbol, value: unknown) => invocations.getStore()?.set(key, value),
  },
});
afterAll(() => {
  delete process.env['AWS_LAMBDA_MAX_CONCURRENCY'];
  vi.unstubAllGlobals();
});

it('Simultaneous invocations of one process write each count and each time once', async () => {
  const { count, measure, withMetrics } = await import('../../lambdas/aws/metrics.ts');
  const handler = withMetrics(async (turns: number) => {
    measure('DestinationTime', turns);
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    count('Delivered');
    measure('Lateness', turns);
  });
  const given = [5, 1, 3];
  const lines = await metricLines(() =>
    Promise.all(given.map((turns) => invocations.run(new Map(), () => handler(turns)))),
  );
  const values = metricValues(lines);
  for (const name of ['DestinationTime', 'Lateness']) {
    expect(values.get(name)?.toSorted(), name).toEqual([1, 3, 5]);
  }
  expect(values.get('Delivered')).toEqual([1, 1, 1]);
});
