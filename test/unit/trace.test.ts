import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { answerOf, openMetricFixture, type MetricFixture } from '../support/metricFixture.ts';
import { useFixture } from '../support/useFixture.ts';
import type { Fixture } from '../support/fixture.ts';

/** One message is followed from its publish to its callbacks: all that follows from it carries the trace of its publish. */

process.env['TRACING'] = 'true';

const traceOf = (digit: string): string =>
  `Root=1-${digit.repeat(8)}-${digit.repeat(24)};Parent=${digit.repeat(16)};Sampled=1`;
const ofPublish = traceOf('a');
const ofDelivery = traceOf('b');

/** Does something as an invocation that Lambda has begun a trace for. */
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
/** The inputs of what was sent since the test began: by SQS, and by Scheduler. */
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

/** The traces that the messages carry which were sent, beside their texts. */
const tracesSent = (): readonly (string | undefined)[] =>
  sent.map((input) => message.parse(input).MessageSystemAttributes?.AWSTraceHeader.StringValue);

describe('the trace of a publish', () => {
  it('goes with the work to the queue, beside the text', async () => {
    await traced(ofPublish, () => fixture.send('https://example.com/'));
    expect(tracesSent()).toEqual([ofPublish]);
    expect(JSON.stringify(sent.map((input) => message.parse(input).MessageBody))).not.toContain('Root=');
  });

  it('goes on with callbacks and retries, although the delivery is an invocation with a trace of its own', async () => {
    const inbox = fixture.receiver.inbox((_, response) => response.writeHead(500).end());
    const callback = fixture.receiver.inbox().url;
    const config = { timeout: '20s', retries: '1', callback };
    await traced(ofPublish, () => fixture.send(inbox.url, config));
    const bodies = await metricFixture.take();
    sent = [];
    await traced(ofDelivery, () => metricFixture.deliver(bodies, ofPublish));
    expect(tracesSent()).toEqual([ofPublish, ofPublish]);
  });

  it('goes on with work that comes again after an outage', async () => {
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

  it('waits with a far message in Scheduler, which carries none beside the text', async () => {
    await traced(ofPublish, () =>
      fixture.send(fixture.receiver.inbox().url, { timeout: '20s', delay: '1h' }),
    );
    const [input = ''] = scheduled.map((one) => schedule.parse(one).Target.Input);
    expect(JSON.parse(input)).toMatchObject({ trace: ofPublish });
    // Scheduler sends two minutes early: the worker sends it on, under the trace of the publish.
    await traced(ofDelivery, () => metricFixture.deliver([input]));
    expect(scheduled).toHaveLength(2);
    expect(schedule.parse(scheduled[1]).Target.Input).toContain(ofPublish);
  });
});

it('Invocations of one process at a time keep their own traces', async () => {
  // As the runtime of Lambda has it on a managed instance, where the environment has no trace.
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

it('Where nothing is traced, nothing carries a trace', async () => {
  process.env['TRACING'] = 'false';
  vi.resetModules();
  const trace = await import('../../lambdas/aws/trace.ts');
  process.env['TRACING'] = 'true';
  const seen = await traced(ofPublish, () =>
    Promise.resolve(trace.underTrace(ofDelivery, () => [trace.traceHeader(), trace.traceAttribute()])),
  );
  expect(seen).toEqual([undefined, undefined]);
});
