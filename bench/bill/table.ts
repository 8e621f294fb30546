/** The table of docs/cost.md: a million messages, by region, batch, and answer time of the destination. */
import type { Bill } from '../../verify/prices/bill.ts';
import { countBody } from '../count.ts';
import { jsonBody } from '../events.ts';
import type { Fixture } from '../fixture.ts';
import { pricedRegions, type PricedRegion } from '../../verify/prices/prices.ts';
import { ordinary, partsOf, sumOf, type Workload } from '../../verify/prices/workload.ts';

export const answerTimes = [
  { title: '100 ms', answerMs: 100 },
  { title: '1 s', answerMs: 1_000 },
  { title: '10 s', answerMs: 10_000 },
  { title: '60 s', answerMs: 60_000 },
] as const;

const batches = [
  { title: 'alone', batch: 1 },
  { title: 'batched', batch: 10 },
] as const;

export interface Counted {
  readonly api: Bill;
  readonly url: Bill;
}

export const countBoth = async (fixture: Fixture): Promise<Counted> => ({
  api: await countBody(fixture, jsonBody, 'api'),
  url: await countBody(fixture, jsonBody, 'url'),
});

interface Row {
  readonly region: PricedRegion;
  readonly title: string;
  readonly cells: readonly string[];
}

export const shown = (dollars: number): string => `$${dollars.toFixed(2)}`;

export const rowsOf = ({ api, url }: Counted): readonly Row[] =>
  pricedRegions.flatMap((region) =>
    batches.map(({ title, batch }) => ({
      region,
      title,
      cells: [
        ...answerTimes.map(({ answerMs }) =>
          shown(sumOf(partsOf({ ...ordinary({ region, batch, counted: url }), answerMs }))),
        ),
        shown(sumOf(partsOf(ordinary({ region, batch, counted: api })))),
      ],
    })),
  );

/** The levers of docs/cost.md: a million messages with and without each. */
interface Lever {
  readonly title: string;
  readonly without: number;
  readonly saved: number;
}

export function leversOf({ api, url }: Counted): readonly Lever[] {
  const alone = ordinary({ region: 'us-east-1', batch: 1, counted: url });
  const total = (workload: Workload): number => sumOf(partsOf(workload));
  const lever = (title: string, more: Partial<Workload>, from: Workload = alone): Lever => ({
    title,
    without: total(from),
    saved: total(from) - total({ ...from, ...more }),
  });
  return [
    lever('`batchingWindow`, batches of six', { batch: 10 }),
    lever('`writeCapacity`, `readCapacity`, 70 % used', { capacityUse: 0.7 }),
    lever('`deliveryMemory=256`', { memoryMb: 256 }),
    lever('`deliveryMemory=256`, answers after 1 s', { memoryMb: 256 }, { ...alone, answerMs: 1_000 }),
    lever('`logLevel=INFO`', { hasLines: true }),
    lever('`publishUrl=false`', { counted: api }),
  ];
}
