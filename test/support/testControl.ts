/**
 * The tests' control over a stage. `POST /test/clock` with `{"advanceMs": n}` lets n milliseconds pass: the clock jumps from
 * one due moment to the next, and waits each time until the due jobs are done, so that a job delayed by a minute is not done at
 * the end. With `{"jumpMs": n}` the clock jumps once without waiting. With `{"stepMs": n}` it steps, also back, and the stage
 * has to notice it. `POST /test/expire` deletes expired data.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { answerJson, close, listen, readBody } from '../../local/http.ts';
import { jsonOrUndefined } from '../../local/json.ts';
import type { Unsettled } from '../../local/sqs/queues.ts';
import type { Controlled, TestControl } from '../../local/stage/testControl.ts';
import type { TestClock } from './testClock.ts';

interface TestControlOptions extends Controlled {
  readonly clock: TestClock;
}

const lookAgainAfterMs = 1;
/**
 * The most checks whether a function has finished, about 4 s, so that a hanging destination doesn't stop the clock. Checks are
 * counted instead of seconds, because a busy machine needs longer.
 */
const mostChecks = 3_500;

const ms = z.int().check(z.gte(0));
const clockInput = z.union([
  z.strictObject({ advanceMs: ms }),
  z.strictObject({ jumpMs: ms }),
  z.strictObject({ stepMs: z.int() }),
]);

export async function startTestControl(options: TestControlOptions): Promise<TestControl> {
  const { report, expireNow } = options;
  const { settle, wake, leave } = clockSteps(options);
  let before: Promise<void> = Promise.resolve();
  const moveTo = (epochMs: number): void => {
    options.clock.moveTo(epochMs);
    wake();
  };
  /** Lets time pass, one call at a time. */
  const advance = (ms: number): Promise<void> => {
    before = before.then(() => advanceTo(Date.now() + ms, settle, moveTo));
    return before;
  };
  const { server, url } = await listen((request, response) => {
    answer(request, response).catch((error: unknown) => {
      report(error);
      response.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (request.method === 'POST' && request.url === '/test/expire') {
      answerJson(response, 200, 'application/json', { deleted: await expireNow() });
      return;
    }
    if (request.method !== 'POST' || request.url !== '/test/clock') {
      answerJson(response, 404, 'application/json', {
        error: 'There are only POST /test/clock and POST /test/expire.',
      });
      return;
    }
    const input = clockInput.safeParse(jsonOrUndefined(body?.toString('utf8') ?? ''));
    if (!input.success) {
      answerJson(response, 400, 'application/json', { error: z.prettifyError(input.error) });
      return;
    }
    if ('jumpMs' in input.data) moveTo(Date.now() + input.data.jumpMs);
    else if ('stepMs' in input.data) options.clock.step(input.data.stepMs);
    else await advance(input.data.advanceMs);
    answerJson(response, 200, 'application/json', { now: Date.now() });
  }

  return { url, leave, close: () => close(server) };
}

export interface ClockSteps {
  /** Waits until the due jobs are finished or given up. Returns when the next job or schedule is due, if any. */
  readonly settle: () => Promise<number | undefined>;
  /** Takes note that the clock has moved. */
  readonly wake: () => void;
  readonly leave: (messageIds: readonly string[]) => void;
}

/** Lets time pass from one due moment to the next. */
export async function advanceTo(
  end: number,
  settle: () => Promise<number | undefined>,
  moveTo: (epochMs: number) => unknown,
): Promise<void> {
  for (;;) {
    const next = (await settle()) ?? Infinity;
    if (next > end) break;
    await moveTo(next);
  }
  await moveTo(end);
  await settle();
}

export function clockSteps({ queues, scheduler, fedQueues, written }: Controlled): ClockSteps {
  /** Receive counts of messages that the clock no longer waits for, by id. */
  const left = new Map<string, number>();

  const unsettled = (): readonly Unsettled[] => fedQueues.flatMap((name) => queues.unsettled(name));

  /** The messages that a function works on now, or is about to. */
  function busyMessages(): readonly Unsettled[] {
    const all = unsettled();
    const inFlight = new Set(all.flatMap(({ id, inFlight: is }) => (is ? id : [])));
    for (const id of left.keys()) if (!inFlight.has(id)) left.delete(id);
    return all.filter(({ id, receives, inFlight: is }) => !is || left.get(id) !== receives);
  }

  function leave(messageIds: readonly string[]): void {
    const ids = new Set(messageIds);
    for (const { id, receives } of unsettled()) if (ids.has(id)) left.set(id, receives);
  }

  function nextDue(): number | undefined {
    const dueIn = fedQueues.map((name) => queues.nextDueIn(name) ?? Infinity);
    const next = Math.min(scheduler.nextDue() ?? Infinity, Date.now() + Math.min(...dueIn));
    return next === Infinity ? undefined : next;
  }

  async function settle(): Promise<number | undefined> {
    for (let checks = 0; checks < mostChecks; checks += 1) {
      await written();
      if (busyMessages().length === 0) return nextDue();
      await setTimeout(lookAgainAfterMs);
    }
    leave(busyMessages().map(({ id }) => id));
    return nextDue();
  }

  const wake = (): void => {
    scheduler.wake();
    queues.wake();
  };
  return { settle, wake, leave };
}
