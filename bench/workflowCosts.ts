/** Counts what AWS bills for a workflow run whose steps the published client makes. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { batchSizes, type BatchSize, type Bill, totalOf } from '../verify/prices/bill.ts';
import { dollarsOf, linesOf, printBill } from './bills.ts';
import { jsonBody } from './events.ts';
import { sum } from './figures.ts';
import type { Use } from './meter.ts';
import { startRunStage, type Happening, type Route, type RunStage } from './runStage.ts';
import type { Fixture } from './fixture.ts';
import { dollars, printTable, short } from './table.ts';

const unitsIn = (uses: readonly Use[], wanted: Use['unit']): number =>
  sum(uses.map(({ unit, amount }) => (unit === wanted ? amount : 0)));

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

type Counted = Readonly<Record<BatchSize, readonly Happening[]>>;

/**
 * Counts an endpoint's runs in batches of each size.
 *
 * @param wake sends what the runs wait for, if they wait
 */
async function countRuns(
  stage: RunStage,
  route: Route,
  wake?: (runId: string) => Promise<unknown>,
): Promise<Counted> {
  const { url } = stage.serve(route);
  const happenedIn = async (size: BatchSize): Promise<readonly Happening[]> => {
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
    return stage.take();
  };
  return { 1: await happenedIn(1), 10: await happenedIn(10) };
}

/** Runs or parts of runs that are added to others, or subtracted. */
interface Term {
  readonly of: Counted;
  readonly times: number;
}

/** Amounts are whole units or simple fractions, so smaller amounts are rounding errors. */
const least = 1e-6;

type RunCost = ReturnType<typeof sumOf>;

/**
 * Makes the bill of a part that cannot be measured alone: a sum of runs in which everything else cancels out.
 */
function sumOf(body: string, terms: readonly Term[]) {
  const usesOf = (size: BatchSize): readonly Use[] =>
    terms.flatMap(({ of, times }) =>
      of[size].flatMap(({ uses }) => uses.map((use) => ({ ...use, amount: (use.amount * times) / size }))),
    );
  const lines = linesOf({ 1: usesOf(1), 10: usesOf(10) }, 1).filter(({ amounts }) =>
    batchSizes.some((size) => Math.abs(amounts[size]) > least),
  );
  const bill: Bill = { body, lines };
  const total = (valueOf: (happening: Happening) => number): number =>
    sum(terms.map(({ of, times }) => times * sum(of[1].map(valueOf))));
  return {
    bill,
    requests: total(({ kind }) => (kind === 'deliver' ? 0 : 1)),
    deliveries: total(({ kind }) => (kind === 'deliver' ? 1 : 0)),
    calls: total(({ calls }) => calls),
    writeUnits: unitsIn(usesOf(1), 'dynamoWrite'),
    readUnits: unitsIn(usesOf(1), 'dynamoRead'),
  };
}

type StepCost = ReturnType<typeof stepCost>;

/** One step of a long run: a delivery with all previous steps, and what the endpoint then submits. */
function stepCost(step: number, happened: readonly Happening[]) {
  const some = (...kinds: readonly Happening['kind'][]) =>
    happened.filter(({ kind }) => kinds.length === 0 || kinds.includes(kind));
  return {
    step,
    calls: (kind: Happening['kind']): number => sum(some(kind).map(({ calls }) => calls)),
    units: (unit: Use['unit'], ...kinds: readonly Happening['kind'][]): number =>
      unitsIn(
        some(...kinds).flatMap(({ uses }) => uses),
        unit,
      ),
    deliveredBytes: sum(some('deliver').map(({ bytes }) => bytes)),
    dollars: dollarsOf(happened.flatMap(({ uses }) => uses)),
  };
}

const longSteps = [10, 100, 1_000];

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
 * Counts some steps of one run. The steps in between are submitted without being delivered, because each
 * delivery would contain all previous steps.
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

export async function printWorkflows(fixture: Fixture): Promise<readonly string[]> {
  const stage = await startRunStage(fixture);
  try {
    const count = (route: Route, wake?: (runId: string) => Promise<unknown>): Promise<Counted> =>
      countRuns(stage, route, wake);
    const notify = (runId: string) => stage.client.notify({ eventId: runId, eventData: output });
    // Processes are warm: they have read the secret, the day's usage and the APIs' hosts.
    for (let turn = 0; turn < 2; turn += 1) await count(single);
    const one = await count(single);
    const all = await count(sequence);
    const more = sequentialSteps - 1;
    // A step is the difference between a longer and a shorter run. The rest of the shorter run is its start
    // and end.
    const startAndEnd: readonly Term[] = [
      { of: one, times: 1 + 1 / more },
      { of: all, times: -1 / more },
    ];
    const step: readonly Term[] = [
      { of: all, times: 1 / more },
      { of: one, times: -1 / more },
    ];
    const without = startAndEnd.map(({ of, times }) => ({ of, times: -times }));
    const besides = async (body: string, ...way: Parameters<typeof count>): Promise<RunCost> =>
      sumOf(body, [{ of: await count(...way), times: 1 }, ...without]);
    const { workflowId } = stage.serve(single);
    const parts = [
      sumOf('The start and the end of a run', startAndEnd),
      sumOf('A step in sequence', step),
      await besides(`A parallel group of ${parallelSteps} steps`, parallel),
      await besides('A call to a third party', calling(stage.thirdParty)),
      await besides('A wait with its event', waiting, notify),
      await besides('An invoke, with a run of one step', invoking(workflowId)),
    ];
    printRuns(sumOf(`A run of ${sequentialSteps} steps`, [{ of: all, times: 1 }]), parts);
    printSteps(
      'A step of one long run: its delivery, and what its endpoint then submits',
      await countLong(stage),
    );
    printSteps('A step of a run whose steps have outputs of 500 KB', await countLarge(stage));
    return [];
  } finally {
    await stage.close();
  }
}

function printRuns(run: RunCost, parts: readonly RunCost[]): void {
  for (const { bill } of parts) printBill(bill.body, bill);
  printTable<RunCost>(
    'Runs of workflows',
    [run, ...parts],
    [
      ['for one; $ for a million', ({ bill }) => bill.body],
      ['requests', ({ requests }) => short(requests)],
      ['deliver runs', ({ deliveries }) => short(deliveries)],
      ['calls', ({ calls }) => short(calls)],
      ['write units', ({ writeUnits }) => short(writeUnits)],
      ['read units', ({ readUnits }) => short(readUnits)],
      ...batchSizes.map(
        (size) => [`$ batch ${size}`, ({ bill }: RunCost) => dollars(totalOf(bill, size))] as const,
      ),
    ],
  );
}

const printSteps = (title: string, steps: readonly StepCost[]): void => {
  printTable(title, steps, [
    ['step', ({ step }) => String(step)],
    ['publish calls', ({ calls }) => String(calls('publish'))],
    ['deliver calls', ({ calls }) => String(calls('deliver'))],
    // The calls of an endpoint that reads a list too large for its delivery.
    ['workflows calls', ({ calls }) => String(calls('workflows'))],
    ['write units', ({ units }) => String(units('dynamoWrite', 'publish', 'deliver'))],
    ['publish reads', ({ units }) => String(units('dynamoRead', 'publish'))],
    ['deliver reads', ({ units }) => String(units('dynamoRead', 'deliver'))],
    ['workflows reads', ({ units }) => String(units('dynamoRead', 'workflows'))],
    ['S3 PUT', ({ units }) => String(units('s3Put'))],
    ['S3 GET', ({ units }) => String(units('s3Get'))],
    ['KB delivered', ({ deliveredBytes }) => (deliveredBytes / 1_000).toFixed(1)],
    ['$ batch 1', (step) => dollars(step.dollars)],
  ]);
};
