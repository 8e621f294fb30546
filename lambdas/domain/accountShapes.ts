/** The fields of an account that the management API takes, as they are checked and as its description shows them. */
import * as z from 'zod/mini';
import { limitTable, plans, type Limit, type LimitName } from './limits.ts';

const text = (description: string) =>
  z.string().check(z.minLength(1), z.maxLength(320), z.describe(description));

const dollars = () => z.int().check(z.minimum(0), z.maximum(1_000_000_000));

const limit = (name: LimitName) => {
  const { least, most }: Limit = limitTable[name];
  return z
    .nullable(z.int().check(z.minimum(least), z.maximum(most)))
    .check(z.describe('In the unit of the record; `null` is what its plan has.'));
};

/** Of all fields of the record those that an operator decides on. */
export const accountFields = {
  customer_id: text('The customer: an e-mail address or a team.'),
  created_by: text('The e-mail address of the user who created the account.'),
  type: z.enum(plans),
  region: text('Where it is served.'),
  active: z.boolean().check(z.describe('`false`: its tokens are refused, its messages are held.')),
  state: z.enum(['active', 'passive']).check(z.describe('The same, in other words.')),
  budget: dollars().check(z.describe('Dollars a month; 0 is no limit.')),
  reserved_type: z.nullable(
    z.string().check(z.regex(/^(svc_fixed(_1m|_10m|_100m)?|enterprise:[\w.-]{1,100})?$/)),
  ),
  reserved_price: z.nullable(dollars()),
  prod_pack_enabled: z.boolean(),
  prometheus_enabled: z
    .enum(['true', 'false'])
    .check(z.describe('Whether its usage is exported as metrics of its own.')),
  enterprise: z.nullable(z.strictObject({ enabled: z.boolean() })),
  timeout: limit('timeout'),
  max_message_size: limit('max_message_size'),
  max_retries: limit('max_retries'),
  max_delay: limit('max_delay'),
  max_requests_per_day: limit('max_requests_per_day'),
  max_requests_per_day_hard: limit('max_requests_per_day_hard'),
  max_requests_per_second: limit('max_requests_per_second'),
  max_bandwidth_per_second: limit('max_bandwidth_per_second'),
  max_dlq_size: limit('max_dlq_size'),
  max_dlq_retention_time_milis: limit('max_dlq_retention_time_milis'),
  max_topics: limit('max_topics'),
  max_endpoints_per_topic: limit('max_endpoints_per_topic'),
  max_schedules: limit('max_schedules'),
  max_events_size: limit('max_events_size'),
  max_parallelism: limit('max_parallelism'),
  max_global_parallelism: limit('max_global_parallelism'),
  max_queues: limit('max_queues'),
} as const;
export type AccountField = keyof typeof accountFields;

export const accountChange = z.partial(z.strictObject(accountFields));
export type AccountInput = z.infer<typeof accountChange>;

/** How many accounts a page has at most: what fits into an answer of Lambda, which has at most 6 MB. */
export const longestAccountPage = 2_000;

export const accountId = z.uuid().check(z.describe('A UUID; a random one by default.'));
/** A new account may be given an id, so that a request which is sent twice makes one account. */
export const newAccountInput = z.extend(accountChange, { id: z.optional(accountId) });
