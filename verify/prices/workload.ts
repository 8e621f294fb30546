/** The bill of a million messages in parts: counted calls, and everything else that AWS bills. */
import {
  holdAfterMs,
  bodyLifetimesDays,
  deliveryMemoryMb,
  type LongDelivery,
  messagesInMemory,
  queues,
  shortTimeoutMs,
} from '../../lambdas/aws/resources.ts';
import { type Bill, type BillLine, indexMark } from './bill.ts';
import { assumed, messageLogGb, runningDollars } from './estimate.ts';
import { daysOfMonth, dollarsPerMillion, type PricedRegion, type Unit } from './prices.ts';
import { services, type Service } from './services.ts';

export interface Workload {
  readonly region: PricedRegion;
  /** Messages per invocation of deliver: 1 to 10. */
  readonly batch: number;
  readonly answerMs: number;
  readonly kb: number;
  /** The calls of one message with a body of this size. */
  readonly counted: Bill;
  /** `deliveryMemory`, in MB. */
  readonly memoryMb?: number;
  /** Whether the log has a line for each attempt: `logLevel=INFO`. */
  readonly hasLines?: boolean;
  readonly capacityUse?: number;
  /** `longDelivery`, if all messages take the long queue. Default: functions. */
  readonly longDelivery?: LongDelivery;
}

/** A message of 1 KB to a destination that answers after 100 ms. */
export const ordinary = (of: Pick<Workload, 'region' | 'batch' | 'counted'>): Workload => ({
  answerMs: 100,
  kb: 1,
  ...of,
});

interface Part {
  readonly what: string;
  readonly service: Service;
  readonly dollars: number;
}

/** Days until log entries are deleted. Default of `logRetentionDays`. */
const logDays = 30;
const secondsOfHour = 3_600;

/** The queue of messages that may wait this long for an answer. Queues differ in batch size. */
const queueOf = (answerMs: number) => (answerMs > shortTimeoutMs ? queues.long : queues.short);

/** Messages per invocation of deliver, limited by the queue and by memory. */
export const batchOf = ({
  batch,
  answerMs,
  memoryMb = deliveryMemoryMb,
  longDelivery,
}: Pick<Workload, 'batch' | 'answerMs' | 'memoryMb' | 'longDelivery'>): number =>
  longDelivery === 'instances' ? 1 : Math.min(batch, queueOf(answerMs).batchSize, messagesInMemory(memoryMb));

/**
 * The units of a line per message, by batch size. They were counted for batches of one and of ten, so one
 * part is per batch and the rest per message.
 */
function amountAt({ amounts }: BillLine, batch: number): number {
  const onceForEach = (amounts[1] - amounts[10]) / (1 - 1 / 10);
  return amounts[10] + onceForEach * (1 / batch - 1 / 10);
}

/** Whether the setting `capacity` applies to the line's table: the messages and their index. */
const isProvisioned = ({ what }: BillLine): boolean => / messages$/.test(what) || what.startsWith(indexMark);

export function partsOf(workload: Workload): readonly Part[] {
  const { region, kb, answerMs, counted, memoryMb, capacityUse, hasLines = false, longDelivery } = workload;
  const batch = batchOf(workload);
  const price = (unit: Unit, amount: number): number => dollarsPerMillion(unit, amount, region);
  const unitsOf = (...units: readonly Unit[]): number =>
    counted.lines
      .filter(({ unit }) => units.includes(unit))
      .reduce((sum, line) => sum + price(line.unit, amountAt(line, batch)), 0);
  const amountOf = (unit: Unit): number =>
    counted.lines.filter((line) => line.unit === unit).reduce((sum, line) => sum + amountAt(line, batch), 0);
  const gbMonths = (isWanted: (line: BillLine) => boolean): number =>
    counted.lines.filter(isWanted).reduce((sum, { gbMonths: more = 0 }) => sum + more, 0);
  const capacity = (onDemand: Unit, hour: Unit): number =>
    counted.lines
      .filter(({ unit }) => unit === onDemand)
      .reduce((sum, line) => {
        const amount = amountAt(line, batch);
        return capacityUse !== undefined && isProvisioned(line)
          ? sum + price(hour, amount / secondsOfHour / capacityUse)
          : sum + price(onDemand, amount);
      }, 0);
  const passesGateway = amountOf('apiRequest') > 0;
  const logGb = messageLogGb({ batch, passesGateway, hasLines });
  const trafficGb = (kb * 1_024 + assumed.requestHeadBytes + assumed.answerBytes) / 2 ** 30;
  const objectGb = (amountOf('s3Put') * kb) / 2 ** 20;
  // If a batch is slow, another call hides it for longer.
  const holds = answerMs >= holdAfterMs ? price('sqsRequest', 1 / batch) : 0;
  const deliver = { of: 'deliver', messages: batch, kb, destinationMs: answerMs } as const;
  const runsOnInstances = longDelivery === 'instances';
  const deliverDollars =
    runningDollars({ ...deliver, ...(memoryMb !== undefined && { memoryMb }) }, region) / batch;
  const { gateway, lambda, sqs, dynamodb, s3, cloudWatch, ec2Other } = services;
  return [
    { what: 'API Gateway', service: gateway, dollars: unitsOf('apiRequest') },
    { what: 'Lambda, requests', service: lambda, dollars: unitsOf('lambdaRequest') },
    {
      what: 'Lambda, time of publish',
      service: lambda,
      dollars: runningDollars({ of: 'publish', messages: 1, kb }, region),
    },
    {
      what: 'Lambda, time of deliver, with the wait for the destination',
      service: lambda,
      dollars: runsOnInstances ? 0 : deliverDollars,
    },
    { what: 'SQS', service: sqs, dollars: unitsOf('sqsRequest', 'sqsGroup') + holds },
    { what: 'DynamoDB, writes', service: dynamodb, dollars: capacity('dynamoWrite', 'dynamoWriteHour') },
    { what: 'DynamoDB, reads', service: dynamodb, dollars: capacity('dynamoRead', 'dynamoReadHour') },
    {
      what: 'DynamoDB, storage until the rows expire',
      service: dynamodb,
      dollars: price(
        'dynamoStorage',
        gbMonths(() => true),
      ),
    },
    {
      what: 'DynamoDB, point-in-time recovery',
      service: dynamodb,
      // Only for the table, without indexes.
      dollars: price(
        'dynamoRecovery',
        gbMonths(({ what }) => !what.startsWith(indexMark)),
      ),
    },
    {
      what: 'S3',
      service: s3,
      dollars:
        unitsOf('s3Put', 's3Get') + price('s3Storage', (objectGb * bodyLifetimesDays[0]) / daysOfMonth),
    },
    {
      what: 'CloudWatch, logs, kept for 30 days',
      service: cloudWatch,
      dollars: price('logGb', logGb) + price('logStorage', (logGb * logDays) / daysOfMonth),
    },
    { what: 'traffic to destinations and clients', service: lambda, dollars: price('trafficGb', trafficGb) },
    {
      what: 'NAT gateway, gigabytes',
      service: ec2Other,
      dollars: runsOnInstances ? price('natGb', trafficGb) : 0,
    },
  ];
}

export const sumOf = (parts: readonly Pick<Part, 'dollars'>[]): number =>
  parts.reduce((sum, { dollars }) => sum + dollars, 0);
