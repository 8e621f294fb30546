/**
 * The bill of `longDelivery=instances`: the function behind the long queue is on Lambda Managed Instances, which are billed by the
 * hour whatever waits on them ("AWS Lambda pricing", "Scaling Lambda Managed Instances").
 */
import {
  deliveryConcurrency,
  functionMemoryMb,
  type LongDelivery,
  messagesInMemory,
  mostConcurrency,
  queues,
} from '../../lambdas/aws/resources.ts';
import { assumed, durationMs, memoryOfOneCpuMb } from '../estimate.ts';
import { hoursOfMonth, type PricedRegion, unitDollars } from '../prices.ts';

/**
 * The smallest execution environment that Lambda takes. It is alone on its instance: of the two CPUs Lambda keeps one, as the "LMI Cost
 * Calculator - Methodology" of AWS's samples has it.
 */
const environment = { memoryMb: 2_048, cpus: 1, instance: 'c7g.large' } as const;

/** The least execution environments of the functions behind the queues `long`, one in each of three zones, and `dead`. */
const leastOfLong = 3;
const leastOfDead = 1;

/** Lambda keeps room for traffic to double within five minutes, so half of an environment is in use. */
const headroom = 2;

/** Messages of an invocation, by where it runs: where many invocations share an environment, each has one message. */
const mostInBatch: Readonly<Record<LongDelivery, number>> = {
  functions: Math.min(queues.long.batchSize, messagesInMemory(functionMemoryMb)),
  instances: 1,
};

/** Messages that wait for their answers at once, at most, with the highest `deliveryConcurrency`. */
export const mostWaiting = (longDelivery: LongDelivery): number =>
  mostConcurrency * mostInBatch[longDelivery];

export interface Waiting {
  readonly perSecond: number;
  readonly answerMs: number;
  readonly kb: number;
}

/** Messages that wait for their answers at once, on average. */
export const waitingAtOnce = ({ perSecond, answerMs, kb }: Waiting): number =>
  (perSecond *
    durationMs({ of: 'deliver', messages: 1, kb, destinationMs: answerMs, memoryMb: memoryOfOneCpuMb })) /
  1_000;

/**
 * The smallest number of messages that one invocation of a function must take. By default a queue has a fixed number of executions
 * at once; messages that arrive while all of them are waiting are delivered together.
 */
export const batchThatFits = (waiting: Waiting): number => waitingAtOnce(waiting) / deliveryConcurrency;

/** Messages that an environment has room for at once, and how many environments there are at most. */
const roomOfEnvironment = messagesInMemory(environment.memoryMb);
const mostOfLong = Math.ceil(mostConcurrency / roomOfEnvironment);

/** The instances that carry messages: as many as their memory takes, and their CPU, but never fewer than are always there. */
export function instancesFor(waiting: Waiting): number {
  const { perSecond, kb } = waiting;
  const forMemory = waitingAtOnce(waiting) / roomOfEnvironment;
  const cpuMs = assumed.cpuMs.deliver + (kb - 1) * assumed.cpuMsPerKb;
  const forCpu = (perSecond * cpuMs) / 1_000 / environment.cpus;
  const forBoth = Math.ceil(headroom * Math.max(forMemory, forCpu));
  return Math.max(leastOfLong, Math.min(mostOfLong, forBoth)) + leastOfDead;
}

/** The bill of a month with this many instances, and with the NAT gateway through which they reach AWS and the destinations. */
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
