import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { setClockAhead } from '../support/clockAhead.ts';
import { answerOf, openMetricFixture, type MetricFixture } from '../support/metricFixture.ts';
import { useFixture } from '../support/useFixture.ts';
import type { Fixture } from '../support/fixture.ts';

process.env['TRACING'] = 'true';

const traceOf = (digit: string): string =>
  `Root=1-${digit.repeat(8)}-${digit.repeat(24)};Parent=${digit.repeat(16)};Sampled=1`;
const ofPublish = traceOf('a');
const ofDelivery = traceOf('b');

/** Runs an act like an invocation that Lambda traces. */
async function traced<T>(trace: string, act: () => Promise<T>): Promise<T> {
  process.env['_X_AMZN_TRACE_ID'] = trace;
  try {
    return await act();
  } finally {
    delete process.env['_X_AMZN_TRACE_ID'];
  }
}

const message = z.object({
  MessageBody: z.string(),
  MessageSystemAttributes: z.optional(
    z.object({ AWSTraceHeader: z.object({ DataType: z.literal('String'), StringValue: z.string() }) }),
  ),
});
const schedule = z.object({ Target: z.object({ Input: z.string() }) });

let fixture: Fixture;
let metricFixture: MetricFixture;
let sent: unknown[] = [];
let scheduled: unknown[] = [];
useFixture(
  async (opened) => {
    fixture = opened;
    metricFixture = await openMetricFixture(fixture);
    fixture.sqs.middlewareStack.add(
      (next, context) => (args) => {
        if (context.commandName === 'SendMessageCommand') sent.push(args.input);
        return next(args);
      },
      { step: 'initialize', name: 'sent' },
    );
    const { client } = await (await import('../../lambdas/aws/scheduler.ts')).scheduler();
    client.middlewareStack.add(
      (next, context) => (args) => {
        if (context.commandName === 'CreateScheduleCommand') scheduled.push(args.input);
        return next(args);
      },
      { step: 'initialize', name: 'scheduled' },
    );
  },
  { overHttp: true },
);
beforeEach(async () => {
  await fixture.drain();
  sent = [];
  scheduled = [];
});

const tracesSent = (): readonly (string | undefined)[] =>
  sent.map((input) => message.parse(input).MessageSystemAttributes?.AWSTraceHeader.StringValue);

describe('the trace of a publish', () => {
  it('is sent to the queue with the job, as an attribute', async () => {
    await traced(ofPublish, () => fixture.send('https://example.com/'));
    expect(tracesSent()).toEqual([ofPublish]);
    expect(JSON.stringify(sent.map((input) => message.parse(input).MessageBody))).not.toContain('Root=');
  });

  it('is used by callbacks and retries, even if the delivery’s invocation has another trace', async () => {
    const inbox = fixture.receiver.inbox((_, response) => response.writeHead(500).end());
    const callback = fixture.receiver.inbox().url;
    const config = { timeout: '20s', retries: '1', callback };
    await traced(ofPublish, () => fixture.send(inbox.url, config));
    const bodies = await metricFixture.take();
    sent = [];
    await traced(ofDelivery, () => metricFixture.deliver(bodies, ofPublish));
    expect(tracesSent()).toEqual([ofPublish, ofPublish]);
  });

  it('is used by a job that is retried after an outage', async () => {
    await traced(ofPublish, () => fixture.send(fixture.receiver.inbox().url, { timeout: '20s' }));
    const bodies = await metricFixture.take();
    sent = [];
    await traced(ofDelivery, () =>
      metricFixture.failing('dynamodb', answerOf('InternalServerError', 500), () =>
        metricFixture.deliver(bodies, ofPublish),
      ),
    );
    expect(tracesSent()).toEqual([ofPublish]);
  });

  it('is in the text of a far message in Scheduler, which has no attributes', async () => {
    await traced(ofPublish, () =>
      fixture.send(fixture.receiver.inbox().url, { timeout: '20s', delay: '1h' }),
    );
    const [input = ''] = scheduled.map((one) => schedule.parse(one).Target.Input);
    expect(JSON.parse(input)).toMatchObject({ trace: ofPublish });
    // Scheduler sends two minutes early, and the worker sends the job again with the trace.
    setClockAhead(58 * 60_000);
    await traced(ofDelivery, () => metricFixture.deliver([input]));
    expect(tracesSent()).toEqual([ofPublish]);
  });
});

it('Simultaneous invocations of one process keep their own traces', async () => {
  // Stands in for Lambda’s runtime on a managed instance, whose environment has no trace.
  const store = new AsyncLocalStorage<string>();
  vi.stubGlobal('awslambda', { InvokeStore: { getXRayTraceId: () => store.getStore() } });
  const { traceHeader } = await import('../../lambdas/aws/trace.ts');
  const invocation = (trace: string): Promise<string | undefined> =>
    store.run(trace, async () => {
      await setImmediate();
      return traceHeader();
    });
  expect(await Promise.all([ofPublish, ofDelivery].map(invocation))).toEqual([ofPublish, ofDelivery]);
  vi.unstubAllGlobals();
});

it('Without tracing, nothing carries a trace', async () => {
  process.env['TRACING'] = 'false';
  vi.resetModules();
  const trace = await import('../../lambdas/aws/trace.ts');
  process.env['TRACING'] = 'true';
  const seen = await traced(ofPublish, () =>
    Promise.resolve(trace.underTrace(ofDelivery, () => [trace.traceHeader(), trace.traceAttribute()])),
  );
  expect(seen).toEqual([undefined, undefined]);
});
