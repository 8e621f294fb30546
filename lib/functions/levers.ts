/** The settings for less cost or more load, described in `app/props.ts`: see docs/cost.md, "The levers", and docs/scale.md. */
import * as z from 'zod';
import {
  deliveryMemoryMb,
  leastDeliveryMemoryMb,
  mostBatchingWindow,
  mostCountingParts,
  mostDeliveryMemoryMb,
  type LongDelivery,
} from '../../lambdas/aws/resources.ts';
import { whole } from '../settingTypes.ts';
import { capacity } from '../state/capacity.ts';

export const levers = {
  deliveryMemory: whole(leastDeliveryMemoryMb, mostDeliveryMemoryMb).default(deliveryMemoryMb),
  batchingWindow: whole(0, mostBatchingWindow).default(0),
  longDelivery: z.enum(['functions', 'instances']).default('functions'),
  /** Lambda allows 15,000 vCPUs ("CapacityProviderScalingConfig"), and two versions have two for each environment. */
  longEnvironments: whole(1, 3_700).optional(),
  writeCapacity: capacity.optional(),
  readCapacity: capacity.optional(),
  countingParts: whole(1, mostCountingParts).default(1),
};

/** @returns what is wrong with `longEnvironments`, if anything */
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
