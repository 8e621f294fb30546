/** The settings that make the bill smaller, or carry more: see docs/cost.md, "The levers", and docs/scale.md. */
import {
  functionMemoryMb,
  leastDeliveryMemoryMb,
  mostBatchingWindow,
  mostCountingParts,
  mostDeliveryMemoryMb,
} from '../../lambdas/aws/resources.ts';
import { whole } from '../settingTypes.ts';
import { capacity } from '../state/capacity.ts';

export const levers = {
  /** MB of memory of the delivery functions. With less than 512 they get fewer messages at once. */
  deliveryMemory: whole(leastDeliveryMemoryMb, mostDeliveryMemoryMb).default(functionMemoryMb),
  /** Seconds for which Lambda gathers messages of the short queue before it invokes a delivery function. */
  batchingWindow: whole(0, mostBatchingWindow).default(0),
  /** Units a second of the table of messages, and of its index, the least and the most: such as 100-4000. On demand when absent. */
  writeCapacity: capacity.optional(),
  readCapacity: capacity.optional(),
  /** Executions that count outcomes side by side, each other shards of all accounts. */
  countingParts: whole(1, mostCountingParts).default(1),
};
