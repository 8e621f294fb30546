/** Counts what AWS bills for a workflow run whose steps the published client makes. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { batchSizes, type BatchSize, type Bill, type BillLine } from '../verify/prices/bill.ts';
import { jsonBody } from './events.ts';
import { sum } from './figures.ts';
import type { Use } from './meter.ts';
import { dollarsPerMillion } from '../verify/prices/prices.ts';
import { startRunStage, type Happening, type Route, type RunStage } from './runStage.ts';
import type { Fixture } from './fixture.ts';

export interface RunCost {
  readonly bill: Bill;
  readonly sums: ReturnType<typeof sumsOf>;
}

const unitsIn = (uses: readonly Use[], wanted: Use['unit']): number =>
  sum(uses.flatMap(({ unit, amount }) => (unit === wanted ? [amount] : [])));

/** A realistic output of a step. */
const output = { orderId: 'ord_8f3a91c27d', booked: true, reference: 'pay_2f81c07ab4', amount: 184.35 };

const sequentialSteps = 5;
const parallelSteps = 10;

const sequence: Route = async (context) => {
  for (let number = 1; number <= sequentialSteps; number += 1)
    await context.run(`step-${number}`, () => output);
  return output;
};
/** The client refuses a run without a step. */
const single: Route = (context) => context.run('step-1', () => output);
const parallel: Route = async (context) => {
  const names = Array.from({ length: parallelSteps }, (_, index) => `step-${index + 1}`);
  await Promise.all(names.map((name) => context.run(name, () => output)));
  return output;
};
const calling =
  (url: string): Route =>
  async (context) => {
    await context.call('pay', { url, method: 'POST', body: JSON.stringify(output) });
    return output;
  };
const invoking =
  (workflowId: string): Route =>
  async (context) => {
    const workflow = { routeFunction: single, options: {}, workflowId };
    await context.invoke('ask', { workflow, body: output });
    return output;
  };

/** Each run has a separate event, named after its id. */
const waiting: Route = async (context) => {
  await context.waitForEvent('approved', context.workflowRunId, { timeout: '7d' });
  return output;
};

/**
 * Counts an endpoint's runs in batches of each size.
 *
 * @param wake sends what the runs wait for, if they wait
 */
async function countRuns(
  stage: RunStage,
  url: string,
  wake?: (runId: string) => Promise<unknown>,
): Promise<ReadonlyMap<BatchSize, readonly Happening[]>> {
  const counted = new Map<BatchSize, readonly Happening[]>();
  for (const size of batchSizes) {
    stage.take();
    const runIds: string[] = [];
    for (let run = 0; run < size; run += 1) {
      runIds.push((await stage.client.trigger({ url, body: jsonBody.toString() })).workflowRunId);
    }
    while (await stage.deliver(size));
    if (wake !== undefined) {
      for (const runId of runIds) await wake(runId);
      while (await stage.deliver(size));
    }
    counted.set(size, stage.take());
  }
  return counted;
}

type Counted = Awaited<ReturnType<typeof countRuns>>;

const usesOf = (counted: Counted, size: BatchSize): readonly Use[] =>
  (counted.get(size) ?? []).flatMap(({ uses }) => uses);

const isSame = (one: Use, other: Use): boolean =>
  one.by === other.by && one.what === other.what && one.unit === other.unit;

/** Units of a kind per run. */
const amountOf = (counted: Counted, of: Use, size: BatchSize): number =>
  sum(usesOf(counted, size).flatMap((use) => (isSame(use, of) ? [use.amount] : []))) / size;

const sumsOf = (counted: Counted) => {
  const one = counted.get(1) ?? [];
  const uses = usesOf(counted, 1);
  return {
    requests: one.filter(({ kind }) => kind !== 'deliver').length,
    deliveries: one.filter(({ kind }) => kind === 'deliver').length,
    calls: sum(one.map(({ calls }) => calls)),
    writeUnits: unitsIn(uses, 'dynamoWrite'),
    readUnits: unitsIn(uses, 'dynamoRead'),
  };
};

/** Runs or parts of runs that are added to others or subtracted from them. */
interface Term {
  readonly of: Counted;
  readonly times: number;
}

/** Amounts are whole units or simple fractions, so smaller amounts are rounding errors. */
const least = 1e-6;

/** Makes the bill of a part that no run consists of alone: a sum of runs in which everything else cancels out. */
function sumOf(body: string, terms: readonly Term[]): RunCost {
  const kinds: Use[] = [];
  for (const use of terms.flatMap(({ of }) => batchSizes.flatMap((size) => usesOf(of, size)))) {
    if (!kinds.some((kind) => isSame(kind, use))) kinds.push(use);
  }
  const total = (valueOf: (of: Counted) => number): number =>
    sum(terms.map(({ of, times }) => times * valueOf(of)));
  const amount = (use: Use, size: BatchSize): number => total((of) => amountOf(of, use, size));
  const lines = kinds
    .map(({ by, what, unit }): BillLine => {
      const use = { by, what, unit, amount: 0 };
      return { by, what, unit, amounts: { 1: amount(use, 1), 10: amount(use, 10) } };
    })
    .filter(({ amounts }) => batchSizes.some((size) => Math.abs(amounts[size]) > least));
  const of = (name: keyof RunCost['sums']): number => total((counted) => sumsOf(counted)[name]);
  return {
    bill: { body, lines },
    sums: {
      requests: of('requests'),
      deliveries: of('deliveries'),
      calls: of('calls'),
      writeUnits: of('writeUnits'),
      readUnits: of('readUnits'),
    },
  };
}

export type StepCost = ReturnType<typeof stepCost>;

/** One step of a long run: its delivery, which contains all previous steps, and what its endpoint then submits. */
function stepCost(step: number, happened: readonly Happening[]) {
  const some = (...kinds: readonly Happening['kind'][]) =>
    happened.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
  const all = happened.flatMap(({ uses }) => uses);
  return {
    step,
    calls: (kind: Happening['kind']): number => sum(some(kind).map(({ calls }) => calls)),
    /** The units of some kinds, or of all. */
    units: (unit: Use['unit'], ...kinds: readonly Happening['kind'][]): number =>
      unitsIn(
        some(...kinds).flatMap(({ uses }) => uses),
        unit,
      ),
    deliveredBytes: sum(some('deliver').map(({ bytes }) => bytes)),
    dollars: sum(all.map(({ unit, amount }) => dollarsPerMillion(unit, amount))),
  };
}

export interface WorkflowCosts {
  readonly run: RunCost;
  /** The parts of that run, and other things that a run may do. */
  readonly parts: readonly RunCost[];
  readonly long: readonly StepCost[];
  readonly large: readonly StepCost[];
}

const longSteps = [10, 100, 1_000];

/** A batch of the client with one step, as publish gets it. */
const stepEvent = z.looseObject({ body: z.string() });
const stepBatch = z.array(z.looseObject({ body: z.string() }));
const stepBody = z.looseObject({ stepId: z.number(), stepName: z.string() });

function withStep(event: object, stepId: number): object {
  const { body, ...others } = stepEvent.parse(event);
  const items = stepBatch.parse(JSON.parse(Buffer.from(body, 'base64').toString()));
  const changed = items.map((item) => {
    const step = stepBody.parse(JSON.parse(item.body));
    return { ...item, body: JSON.stringify({ ...step, stepId, stepName: `step-${stepId}` }) };
  });
  return { ...others, body: Buffer.from(JSON.stringify(changed)).toString('base64') };
}

/**
 * Counts some steps of one run. The steps between are submitted without their deliveries, each of which would contain all
 * previous steps.
 */
async function countLong(stage: RunStage): Promise<readonly StepCost[]> {
  const { url } = stage.serve(async (context) => {
    for (let number = 1; ; number += 1) await context.run(`step-${number}`, () => output);
  });
  await stage.client.trigger({ url, body: jsonBody.toString() });
  await stage.deliver(1, 1);
  const template = stage.lastRequest();
  const costs: StepCost[] = [];
  let submitted = 1;
  for (const step of longSteps) {
    while (submitted < step - 1) {
      stage.purge();
      submitted += 1;
      await stage.publish(withStep(template, submitted));
    }
    stage.take();
    await stage.deliver(1, 1);
    submitted += 1;
    costs.push(stepCost(step, stage.take()));
  }
  stage.purge();
  return costs;
}

const largeSteps = 8;
const bytesOfLarge = 500_000;

/** Counts the steps of a run with large outputs. */
async function countLarge(stage: RunStage): Promise<readonly StepCost[]> {
  const { url } = stage.serve(async (context) => {
    for (let number = 1; number <= largeSteps; number += 1) {
      await context.run(`step-${number}`, () => randomBytes((bytesOfLarge / 4) * 3).toString('base64'));
    }
  });
  await stage.client.trigger({ url, body: jsonBody.toString() });
  const costs: StepCost[] = [];
  stage.take();
  for (let step = 1; step <= largeSteps; step += 1) {
    await stage.deliver(1, 1);
    costs.push(stepCost(step, stage.take()));
  }
  stage.purge();
  return costs;
}

export async function countWorkflows(fixture: Fixture): Promise<WorkflowCosts> {
  const stage = await startRunStage(fixture);
  try {
    const count = (route: Route, wake?: (runId: string) => Promise<unknown>): Promise<Counted> =>
      countRuns(stage, stage.serve(route).url, wake);
    const notify = (runId: string) => stage.client.notify({ eventId: runId, eventData: output });
    // Processes are warm: they have read the secret, the day's usage and the APIs' hosts.
    await stage.unmeasured(async () => {
      for (let turn = 0; turn < 2; turn += 1) await count(single);
    });
    const one = await count(single);
    const all = await count(sequence);
    const more = sequentialSteps - 1;
    // A step is the difference between a longer and a shorter run. Start and end are the rest of the shorter run.
    const startAndEnd: readonly Term[] = [
      { of: one, times: 1 + 1 / more },
      { of: all, times: -1 / more },
    ];
    const without = startAndEnd.map(({ of, times }) => ({ of, times: -times }));
    const besides = async (body: string, ...way: Parameters<typeof count>): Promise<RunCost> =>
      sumOf(body, [{ of: await count(...way), times: 1 }, ...without]);
    const { workflowId } = stage.serve(single);
    const costs = {
      run: sumOf(`A run of ${sequentialSteps} steps`, [{ of: all, times: 1 }]),
      parts: [
        sumOf('The start and the end of a run', startAndEnd),
        sumOf('A step in sequence', [
          { of: all, times: 1 / more },
          { of: one, times: -1 / more },
        ]),
        await besides(`A parallel group of ${parallelSteps} steps`, parallel),
        await besides('A call to a third party', calling(stage.thirdParty)),
        await besides('A wait with its event', waiting, notify),
        await besides('An invoke, with a run of one step', invoking(workflowId)),
      ],
    };
    return { ...costs, long: await countLong(stage), large: await countLarge(stage) };
  } finally {
    await stage.close();
  }
}
