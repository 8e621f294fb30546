/** The settings that make the bill smaller, or carry more: see docs/cost.md, "The levers", and docs/scale.md. */
import * as z from 'zod';
import {
  functionMemoryMb,
  leastDeliveryMemoryMb,
  mostBatchingWindow,
  mostCountingParts,
  mostDeliveryMemoryMb,
  type LongDelivery,
} from '../../lambdas/aws/resources.ts';
import { whole } from '../settingTypes.ts';
import { capacity } from '../state/capacity.ts';

export const levers = {
  /** MB of memory of the delivery functions. With less than 512 they get fewer messages at once. */
  deliveryMemory: whole(leastDeliveryMemoryMb, mostDeliveryMemoryMb).default(functionMemoryMb),
  /** Seconds for which Lambda gathers messages of the short queue before it invokes a delivery function. */
  batchingWindow: whole(0, mostBatchingWindow).default(0),
  /** Waits for answers that take long: functions, or functions on managed instances (`instances.ts`). */
  longDelivery: z.enum(['functions', 'instances']).default('functions'),
  /** The least execution environments of the function on managed instances. Lambda's most is 15,000 ("FunctionScalingConfig"). */
  longEnvironments: whole(1, 15_000).optional(),
  /** Units a second of the table of messages, and of its index, the least and the most: such as 100-4000. On demand when absent. */
  writeCapacity: capacity.optional(),
  readCapacity: capacity.optional(),
  /** Executions that count outcomes side by side, each other shards of all accounts. */
  countingParts: whole(1, mostCountingParts).default(1),
};

/** @returns what is wrong with `longEnvironments`; undefined when nothing is */
export const faultInLongDelivery = ({
  longDelivery,
  longEnvironments,
}: {
  readonly longDelivery: LongDelivery;
  readonly longEnvironments?: number | undefined;
}): string | undefined =>
  longEnvironments !== undefined && longDelivery === 'functions'
    ? 'is set, but longDelivery is functions: only managed instances have execution environments that are kept'
    : undefined;
