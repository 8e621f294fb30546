/** Prints what messages cost, including everything that AWS bills. */
import type { Bill } from '../../verify/prices/bill.ts';
import { countBody } from '../count.ts';
import { jsonBodyOf } from '../events.ts';
import { assumed } from '../../verify/prices/estimate.ts';
import { startFixture, type Fixture } from '../fixture.ts';
import {
  pricedOn,
  pricedRegions,
  qstashDollarsPerMillion,
  secondsOfMonth,
} from '../../verify/prices/prices.ts';
import { formatTable, printTable } from '../table.ts';
import { batchRule } from './batches.ts';
import { batchOfMonth, fixedOfMonth, messagesOfMonth, type Month, otherWay, roomOfMonth } from './month.ts';
import { answerTimes, countBoth, leversOf, rowsOf, shown } from './table.ts';
import { type WaitingRow, waitingRows } from './waiting.ts';
import { ordinary, partsOf, sumOf } from '../../verify/prices/workload.ts';

const assumptions = [
  `List prices of ${pricedOn}, without free allowances and taxes.`,
  `Functions on arm64, publish with ${assumed.memoryMb.publish} MB and deliver with ${assumed.memoryMb.deliver}; ${assumed.awsCallMs} ms for a call of AWS; ${assumed.cpuMs.publish} and ${assumed.cpuMs.deliver} ms of CPU for a message, ${assumed.cpuMsPerKb} ms more for each further KB; no cold starts.`,
  'One attempt for each message, no callback, no lane, an account with the default limits, and a log and point-in-time recovery with the default settings.',
  `A request of ${assumed.requestHeadBytes} bytes and the body to a destination outside AWS, over connections that are kept.`,
];

/** Prints the table of docs/cost.md, its parts and the levers. */
export async function printWholeBill(fixture: Fixture): Promise<readonly string[]> {
  const counted = await countBoth(fixture);
  const head = ['region', '', ...answerTimes.map(({ title }) => title), '100 ms, through the gateway'];
  printTable(
    'The whole bill of a million messages of 1 KB, by the time of the answer',
    rowsOf(counted).map(({ region, title, cells }) => [region, title, ...cells]),
    head.map((title, column) => [title, (row) => row[column] ?? '']),
    2,
  );
  const partsAt = (batch: number) => partsOf(ordinary({ region: 'us-east-1', batch, counted: counted.url }));
  const batched = partsAt(10);
  printTable(
    'Its parts in us-east-1, at 100 ms',
    [...partsAt(1).entries()],
    [
      ['part', ([, { what }]) => what],
      ['$ alone', ([, { dollars }]) => dollars.toFixed(3)],
      ['$ batched', ([at]) => (batched[at]?.dollars ?? 0).toFixed(3)],
    ],
  );
  printTable('What levers save of a million messages, alone', leversOf(counted), [
    ['lever', ({ title }) => title],
    ['without', ({ without }) => shown(without)],
    ['saves', ({ saved }) => shown(saved)],
    ['part', ({ saved, without }) => `${((saved / without) * 100).toFixed(0)} %`],
  ]);
  const dollarsText = (one: number | undefined): string =>
    one === undefined ? 'no room' : `$${one.toLocaleString('en-US')}`;
  printTable(
    'The messages of a month, and the instances that deliver them, by longDelivery',
    waitingRows(counted.url),
    [
      ['a second', ({ perSecond }) => perSecond.toLocaleString('en-US')],
      ['answer', ({ answerMs }) => `${answerMs / 1_000} s`],
      ...pricedRegions
        .flatMap((one) => [`${one}, functions`, 'instances'])
        .map((name, at) => [name, ({ dollars }: WaitingRow) => dollarsText(dollars[at])] as const),
    ],
  );
  console.log(`\n${assumptions.map((one) => `- ${one}`).join('\n')}`);
  return [];
}

export async function printMonth(month: Month): Promise<void> {
  const fixture = await startFixture();
  try {
    const counted = await countBody(fixture, jsonBodyOf(month.kb), month.by);
    console.log(monthText(month, counted));
  } finally {
    await fixture.close();
  }
}

function monthText(month: Month, counted: Bill): string {
  const { messages, answerMs, region, kb, by, longDelivery } = month;
  const millions = messages / 1e6;
  const [variable, fixed] = [messagesOfMonth(month, counted), fixedOfMonth(month)];
  const row = (what: string, dollars: number, isOfMessages: boolean): readonly string[] => [
    what,
    isOfMessages ? (dollars / millions).toFixed(3) : '',
    dollars.toFixed(2),
  ];
  const rows = [
    ...variable.filter(({ dollars }) => dollars > 0).map(({ what, dollars }) => row(what, dollars, true)),
    row('all messages', sumOf(variable), true),
    ...fixed.map(({ what, dollars }) => row(what, dollars, false)),
    row('the month', sumOf([...variable, ...fixed]), false),
  ];
  const title = `${messages.toLocaleString('en-US')} messages of ${kb} KB in a month in ${region}, answered after ${answerMs / 1_000} s, by ${by === 'api' ? 'the API' : 'the publish URL'}`;
  const { waiting, most } = roomOfMonth(month);
  const notes = [
    `${(messages / secondsOfMonth).toFixed(1)} messages a second on average, ${batchText(month)}`,
    `${waiting.toFixed(0)} of them wait for their answers at once; one deployment with longDelivery=${longDelivery} has room for ${most.toLocaleString('en-US')}.`,
    otherWay(month, counted),
    ...assumptions,
    `QStash takes $${((messages / 1e6) * qstashDollarsPerMillion).toFixed(2)} for them, pay as you go.`,
  ];
  return `\n${title}\n\n${formatTable(['part', '$ a million', '$ a month'], rows)}\n\n${notes.map((note) => `- ${note}`).join('\n')}`;
}

function batchText(month: Month): string {
  if (month.longDelivery === 'instances') return 'each delivered alone, on instances.';
  const used = batchOfMonth(month);
  const batches =
    used === 1 ? 'so each is delivered alone' : `delivered in batches of ${Number(used.toFixed(1))}`;
  return `${batches}. ${month.batch === undefined ? batchRule : 'Given with --batch.'}`;
}
