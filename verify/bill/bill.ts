/** `svc-queue verify --bill`: compares AWS's bill for a day with the forecast for its messages. */
import { GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import { CostExplorerClient, GetCostAndUsageCommand } from '@aws-sdk/client-cost-explorer';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { type Check, expectThat, type Outcome, runCheck } from '../check.ts';
import { clientsIn } from '../clients.ts';
import type { Deployment } from '../deployment.ts';
import { ownQuery } from '../metrics.ts';
import { type Forecast, forecastOf } from './forecast.ts';

/** The region of Cost Explorer's endpoint ("AWS Cost Explorer endpoints and quotas"). */
const costRegion = 'us-east-1';

const dayMs = 86_400_000;

interface Day {
  /** A UTC date, such as `2026-11-25`. */
  readonly day: string;
  readonly deployment: Deployment;
  readonly regions: readonly string[];
}

type Billed = ReadonlyMap<string, number>;

/** The bill may exceed the forecast by this factor, and by this many dollars more. */
const tolerance = { factor: 1.25, dollars: 0.1 };

const tag = 'service';

/** Reads a day's costs, which are available a day later. A request costs $0.01 (AWS Cost Explorer pricing). */
export async function readBilled(
  client: CostExplorerClient,
  { day, deployment, regions }: Day,
): Promise<Billed> {
  const billed = new Map<string, number>();
  let NextPageToken: string | undefined;
  do {
    const page = await client.send(
      new GetCostAndUsageCommand({
        TimePeriod: { Start: day, End: dayAfter(day) },
        Granularity: 'DAILY',
        Metrics: ['UnblendedCost'],
        GroupBy: [{ Type: 'DIMENSION', Key: 'SERVICE' }],
        Filter: {
          And: [
            { Tags: { Key: tag, Values: [deployment.settings.name] } },
            { Dimensions: { Key: 'REGION', Values: [...regions] } },
            // Excludes credits, refunds and taxes.
            { Dimensions: { Key: 'RECORD_TYPE', Values: ['Usage'] } },
          ],
        },
        ...(NextPageToken !== undefined && { NextPageToken }),
      }),
    );
    for (const { Groups = [] } of page.ResultsByTime ?? [])
      for (const { Keys: [service = ''] = [], Metrics = {} } of Groups)
        billed.set(service, (billed.get(service) ?? 0) + Number(Metrics['UnblendedCost']?.Amount ?? 0));
    ({ NextPageToken } = page);
  } while (NextPageToken !== undefined);
  return billed;
}

const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + dayMs).toISOString().slice(0, 10);

/** Counts a day's messages in each region by the functions' metrics, including callbacks. */
async function countMessages({ day, deployment, regions }: Day): Promise<ReadonlyMap<string, number>> {
  const counts = regions.map(async (region): Promise<[string, number]> => {
    const { cloudWatch } = clientsIn(region);
    const { MetricDataResults = [] } = await cloudWatch.send(
      new GetMetricDataCommand({
        StartTime: new Date(`${day}T00:00:00Z`),
        EndTime: new Date(`${dayAfter(day)}T00:00:00Z`),
        MetricDataQueries: ['Accepted', 'Callbacks'].map((name) =>
          ownQuery(deployment.settings.name, name, 3_600),
        ),
      }),
    );
    return [region, sum(MetricDataResults.flatMap(({ Values = [] }) => Values))];
  });
  return new Map(await Promise.all(counts));
}

const sum = (amounts: Iterable<number>): number => {
  let total = 0;
  for (const amount of amounts) total += amount;
  return total;
};

const shown = (dollars: number): string => `$${dollars.toFixed(2)}`;

/**
 * Compares a day's bill with the forecast.
 *
 * @throws Shortfall if it exceeds the forecast without batching, or if nothing is tagged
 */
export function judgeBill(
  { day, messages }: { readonly day: string; readonly messages: number },
  billed: Billed,
  forecast: readonly Forecast[],
): string {
  const total = sum(billed.values());
  const [alone, batched] = [sum(forecast.map((one) => one.alone)), sum(forecast.map((one) => one.batched))];
  expectThat(
    billed.size > 0,
    `Cost Explorer knows no cost of ${day} with the tag ${tag}: it has them from the day on which the tag is activated.`,
  );
  const names = new Set([...forecast.map(({ service }) => service), ...billed.keys()]);
  const lines = [...names].map((service) => {
    const expected = forecast.find((one) => one.service === service);
    const range =
      expected === undefined ? 'no forecast' : `${shown(expected.batched)} to ${shown(expected.alone)}`;
    return `${service} ${shown(billed.get(service) ?? 0)} (${range})`;
  });
  const sentence = `${day}: AWS billed ${shown(total)} for ${messages} messages; the forecast is ${shown(batched)} in batches to ${shown(alone)} alone: ${lines.join(', ')}`;
  expectThat(total <= alone * tolerance.factor + tolerance.dollars, `${sentence}.`);
  return sentence;
}

const billCheck: Check<Day & { readonly region: string; readonly isEmulator: boolean }> = {
  name: 'bill',
  shows: 'AWS billed for a day what the forecast says',
  remedy:
    'Activate the tag once, in the account that pays: aws ce update-cost-allocation-tags-status --cost-allocation-tags-status TagKey=service,Status=Active. Where the bill is higher: docs/cost.md, "The levers", and npm run bench.',
  run: async (asked) => {
    const messages = await countMessages(asked);
    const stacks = asked.deployment.stacks.filter(({ region }) => asked.regions.includes(region));
    const client = new CostExplorerClient({ ...clientOptions('quick'), region: costRegion });
    const forecast = forecastOf(messages, stacks);
    return judgeBill(
      { ...asked, messages: sum(messages.values()) },
      await readBilled(client, asked),
      forecast,
    );
  },
};

export const verifyBill = async (asked: Day): Promise<readonly Outcome[]> => [
  await runCheck(billCheck, { ...asked, region: asked.regions.join(', '), isEmulator: false }),
];
