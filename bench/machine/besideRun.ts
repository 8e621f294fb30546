/** Measures how a run with many parallel steps affects another account's publishes on one machine. */
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { startReceiver, type Delivery } from '../../test/support/receiver.ts';
import type { Stage } from '../../test/support/stage.ts';
import { batchOf, endpointHeaders, planOf, resultOf } from '../branchSteps.ts';
import { makeStageAccount, post } from '../stageClient.ts';

/** The other account publishes this often, even if earlier requests are not answered yet. */
const publishEveryMs = 200;
/** After this time, an unfinished run is reported as it is. */
const mostMs = 900_000;

interface BesideRun {
  readonly delivered: number;
  /** Seconds from the start of the run to the last of these deliveries. */
  readonly seconds: number;
  readonly p99: number;
  readonly longest: number;
  readonly failed: number;
}

const entry = z.object({ messageId: z.string(), body: z.string() });
const step = z.object({ targetStep: z.optional(z.number()) });

/** The last entry in the body of a delivery, for which it was sent. */
const entryOf = ({ body }: Delivery): z.output<typeof entry> =>
  entry.parse(JSON.parse(body.subarray(body.lastIndexOf('{"messageId"'), -1).toString()));

/** @param branches up to 4,999 */
export async function measureBesideRun(stage: Stage, branches: number): Promise<BesideRun> {
  const [token, other] = [await makeStageAccount(stage, { type: 'free' }), await makeStageAccount(stage)];
  const runId = `wfr_branches-${branches}`;
  const receiver = await startReceiver();
  const send = async (as: string, path: string, body: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' };
    return (await post(`${stage.url}${path}`, `Bearer ${as}`, body, headers)).status;
  };
  const seen = new Set<number>();
  const startedAt = performance.now();
  let lastAt = startedAt;
  const all = Array.from({ length: branches }, (_, index) => index + 1);
  const submit = (bodies: readonly object[], isInit = false): Promise<number> =>
    send(token, '/v2/batch', batchOf({ url: endpoint.url, runId, isInit }, bodies));

  const answerFor = async (delivery: Delivery): Promise<number> => {
    const { body } = entryOf(delivery);
    // The first entry is the payload. The first delivery contains nothing else.
    if (delivery.body.lastIndexOf('{"messageId"') <= 1) {
      return submit(all.map((stepId) => planOf(stepId, branches)));
    }
    const { targetStep } = step.parse(JSON.parse(Buffer.from(body, 'base64').toString()));
    if (targetStep === undefined) return 200;
    if (!seen.has(targetStep)) lastAt = performance.now();
    seen.add(targetStep);
    return submit([resultOf(targetStep, branches)]);
  };
  const endpoint = receiver.inbox((delivery, response) => {
    void answerFor(delivery)
      .catch(() => 500)
      .then((status) => response.writeHead(status, endpointHeaders).end());
  });

  const times: number[] = [];
  let failed = 0;
  const publishes: Promise<void>[] = [];
  const sink = receiver.inbox();
  const publish = async (): Promise<void> => {
    const since = performance.now();
    const status = await send(other, `/v2/publish/${sink.url}`, 'work').catch(() => 0);
    times.push(performance.now() - since);
    if (status !== 200) failed += 1;
  };
  try {
    await publish();
    await submit([{ order: 'ord_8f3a91c27d' }], true);
    while (seen.size < branches && performance.now() - startedAt < mostMs) {
      publishes.push(publish());
      await setTimeout(publishEveryMs);
    }
    await Promise.all(publishes);
  } finally {
    await receiver.close();
  }
  const sorted = times.toSorted((one, another) => one - another);
  return {
    delivered: seen.size,
    seconds: (lastAt - startedAt) / 1_000,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    longest: sorted.at(-1) ?? Number.NaN,
    failed,
  };
}
