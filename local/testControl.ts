/**
 * What only tests may do to a stage: `POST /test/clock` with `{"advanceMs": n}` lets that much time pass. It goes from
 * one due moment to the next, and waits at each until the handlers are done with it: what one of them puts off for a
 * minute is due in its turn.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { answerJson, close, listen, readBody } from './http.ts';
import { jsonOrUndefined } from './json.ts';
import type { Scheduler } from './scheduler.ts';
import type { Sqs } from './sqs.ts';
import type { TestClock } from './testClock.ts';

export interface TestControl {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface TestControlOptions {
  readonly clock: TestClock;
  readonly sqs: Pick<Sqs, 'nextDue' | 'unsettled' | 'wake'>;
  readonly scheduler: Pick<Scheduler, 'nextDue' | 'wake'>;
  /** Names of the queues whose messages are handed to a function. */
  readonly fedQueues: readonly string[];
  readonly report: (error: unknown) => void;
}

/** How long a message may be in its function's hands before the clock goes on without it. */
const patienceMs = 1_000;
const lookAgainAfterMs = 2;

const advanceInput = z.object({ advanceMs: z.int().check(z.gte(0)) });

export async function startTestControl(options: TestControlOptions): Promise<TestControl> {
  const { report } = options;
  const advance = createAdvance(options);
  const { server, url } = await listen((request, response) => {
    answer(request, response).catch((error: unknown) => {
      report(error);
      response.destroy();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (request.method !== 'POST' || request.url !== '/test/clock') {
      answerJson(response, 404, 'application/json', { error: 'There is only POST /test/clock.' });
      return;
    }
    const input = advanceInput.safeParse(jsonOrUndefined(body?.toString('utf8') ?? ''));
    if (!input.success) {
      answerJson(response, 400, 'application/json', { error: z.prettifyError(input.error) });
      return;
    }
    await advance(input.data.advanceMs);
    answerJson(response, 200, 'application/json', { now: Date.now() });
  }

  return { url, close: () => close(server) };
}

/** Lets time pass, one call after the other; resolves when what became due meanwhile has been handed out. */
function createAdvance({ clock, sqs, scheduler, fedQueues }: TestControlOptions) {
  const givenUp = new Set<string>();
  let before: Promise<void> = Promise.resolve();

  async function settle(): Promise<void> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const busy = fedQueues.flatMap((name) => sqs.unsettled(name)).filter((item) => !givenUp.has(item));
      if (busy.length === 0) return;
      if (performance.now() > deadline) {
        for (const item of busy) givenUp.add(item);
        return;
      }
      await setTimeout(lookAgainAfterMs);
    }
  }

  async function moveTo(epochMs: number): Promise<void> {
    clock.moveTo(epochMs);
    scheduler.wake();
    sqs.wake();
    await settle();
  }

  async function advanceTo(end: number): Promise<void> {
    await settle();
    for (;;) {
      const due = [scheduler.nextDue(), ...fedQueues.map((name) => sqs.nextDue(name))];
      const next = Math.min(...due.map((at) => at ?? Infinity));
      if (next > end) break;
      await moveTo(next);
    }
    await moveTo(end);
  }

  return async (ms: number): Promise<void> => {
    before = before.then(() => advanceTo(Date.now() + ms));
    await before;
  };
}
