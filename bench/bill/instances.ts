/**
 * The bill of `longDelivery=instances`: the long queue's function runs on Lambda Managed Instances, which are billed even if
 * idle ("AWS Lambda pricing", "Scaling Lambda Managed Instances").
 */
import {
  deliveryConcurrency,
  deliveryMemoryMb,
  type LongDelivery,
  messagesInMemory,
  mostConcurrency,
  queues,
} from '../../lambdas/aws/resources.ts';
import { assumed, durationMs, memoryOfOneCpuMb } from '../../verify/prices/estimate.ts';
import { hoursOfMonth, type PricedRegion, unitDollars } from '../../verify/prices/prices.ts';

/**
 * Lambda's smallest execution environment. It needs a whole instance, of which Lambda reserves one of two CPUs ("LMI Cost
 * Calculator - Methodology" in AWS's samples).
 */
const environment = { memoryMb: 2_048, cpus: 1, instance: 'c7g.large' } as const;

/** The fewest execution environments of the functions behind the queues `long`, one in each of three zones, and `dead`. */
const leastOfLong = 3;
const leastOfDead = 1;

/** Lambda reserves room for traffic to double within five minutes, so half of an environment is used. */
const headroom = 2;

/** Messages per invocation. On instances, where invocations share an environment, each has one message. */
const mostInBatch: Readonly<Record<LongDelivery, number>> = {
  functions: Math.min(queues.long.batchSize, messagesInMemory(deliveryMemoryMb)),
  instances: 1,
};

/** The most messages that can wait for answers at once, with the highest `deliveryConcurrency`. */
export const mostWaiting = (longDelivery: LongDelivery): number =>
  mostConcurrency * mostInBatch[longDelivery];

export interface Waiting {
  readonly perSecond: number;
  readonly answerMs: number;
  readonly kb: number;
}

export const waitingAtOnce = ({ perSecond, answerMs, kb }: Waiting): number =>
  (perSecond *
    durationMs({ of: 'deliver', messages: 1, kb, destinationMs: answerMs, memoryMb: memoryOfOneCpuMb })) /
  1_000;

/**
 * The batches that invocations need. Messages that arrive while all executions are busy are delivered
 * together.
 */
export const batchThatFits = (waiting: Waiting): number => waitingAtOnce(waiting) / deliveryConcurrency;

const roomOfEnvironment = messagesInMemory(environment.memoryMb);
const mostOfLong = Math.ceil(mostConcurrency / roomOfEnvironment);

/** The instances whose memory and CPU suffice for the messages, at least the permanent ones. */
export function instancesFor(waiting: Waiting): number {
  const { perSecond, kb } = waiting;
  const forMemory = waitingAtOnce(waiting) / roomOfEnvironment;
  const cpuMs = assumed.cpuMs.deliver + (kb - 1) * assumed.cpuMsPerKb;
  const forCpu = (perSecond * cpuMs) / 1_000 / environment.cpus;
  const forBoth = Math.ceil(headroom * Math.max(forMemory, forCpu));
  return Math.max(leastOfLong, Math.min(mostOfLong, forBoth)) + leastOfDead;
}

/** A month's bill for this many instances, including the NAT gateway that they need. */
export const instanceLines = (
  instances: number,
  region: PricedRegion,
): readonly { readonly what: string; readonly dollars: number }[] => [
  {
    what: `EC2, ${instances} instances (${environment.instance})`,
    dollars: unitDollars('instanceHour', instances * hoursOfMonth, region),
  },
  {
    what: 'Lambda, management fee of the instances',
    dollars: unitDollars('instanceFeeHour', instances * hoursOfMonth, region),
  },
  {
    what: 'NAT gateway, and its address',
    dollars: unitDollars('natHour', hoursOfMonth, region) + unitDollars('addressHour', hoursOfMonth, region),
  },
];
