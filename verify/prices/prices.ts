/**
 * AWS's list prices in dollars per million units: the first tier, without free allowances and discounts. Units billed by the
 * month have a month's price.
 */

export const pricedRegions = ['us-east-1', 'eu-central-1'] as const;
export type PricedRegion = (typeof pricedRegions)[number];

/** The region whose prices are used: the given one, or us-east-1 if its prices are unknown. */
export const pricedRegionOf = (region: string): PricedRegion =>
  pricedRegions.find((one) => one === region) ?? pricedRegions[0];

/**
 * The day on which the prices were last compared with published copies of AWS's Price List Bulk API,
 * `https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/<service>/current/<region>/index.json`, from
 * August and September 2026. Other sources: a note of AWS's page for DynamoDB's capacity hours in
 * eu-central-1; AWS's pages for web ACLs and keys, which cost the same everywhere; and for EC2's hours,
 * `catalogs/v8/aws/vms.csv` of the public repository `skypilot-org/skypilot-catalog`, which matches AWS's
 * examples for us-east-1. Many other pages still show DynamoDB's request prices from before November 2024,
 * which are twice as high.
 */
export const pricedOn = '2026-11-26';

export const hoursOfMonth = 730;
export const daysOfMonth = hoursOfMonth / 24;
export const secondsOfMonth = hoursOfMonth * 3_600;

/**
 * @param usEast1 dollars for a million units in us-east-1
 * @param euCentral1 the same in eu-central-1
 */
const price = (unit: string, usEast1: number, euCentral1: number, source: string) => ({
  unit,
  dollarsPerMillion: { 'us-east-1': usEast1, 'eu-central-1': euCentral1 },
  source,
});

export const prices = {
  apiRequest: price(
    'API request',
    3.5,
    3.7,
    'Amazon API Gateway pricing, REST APIs; `EUC1-ApiGatewayRequest`',
  ),
  lambdaRequest: price('Lambda request', 0.2, 0.2, 'AWS Lambda pricing, arm64'),
  /** One request per 64 KB. */
  sqsRequest: price('SQS request', 0.4, 0.4, 'Amazon SQS pricing, standard queues'),
  /** In addition to the request. Only requests that send have a group. */
  sqsGroup: price('SQS group', 0.1, 0.1, 'Amazon SQS pricing, fair queues'),
  scheduled: price('Scheduler send', 1, 1.15, 'Amazon EventBridge pricing, Scheduler'),
  dynamoWrite: price('write unit', 0.625, 0.7625, 'Amazon DynamoDB pricing, on-demand'),
  dynamoRead: price('read unit', 0.125, 0.1525, 'Amazon DynamoDB pricing, on-demand'),
  /** A unit of provisioned capacity for an hour, which carries up to 3,600 write units. */
  dynamoWriteHour: price('write capacity hour', 650, 793, 'Amazon DynamoDB pricing, provisioned capacity'),
  dynamoReadHour: price('read capacity hour', 130, 158.6, 'Amazon DynamoDB pricing, provisioned capacity'),
  dynamoStorage: price('GB-month', 250_000, 306_000, 'Amazon DynamoDB pricing, Standard table class'),
  dynamoRecovery: price('GB-month', 200_000, 244_800, 'Amazon DynamoDB pricing, point-in-time recovery'),
  s3Put: price('S3 PUT', 5, 5.4, 'Amazon S3 pricing, S3 Standard'),
  s3Get: price('S3 GET', 0.4, 0.43, 'Amazon S3 pricing, S3 Standard'),
  s3Storage: price('GB-month', 23_000, 24_500, 'Amazon S3 pricing, S3 Standard'),
  secretRead: price('secret read', 5, 5, 'AWS Secrets Manager pricing'),
  /** A gigabyte of a function's memory for a second. */
  lambdaGbSecond: price('GB-second', 13.3334, 13.3334, 'AWS Lambda pricing, arm64'),
  alarmMetric: price('alarm metric', 100_000, 100_000, 'Amazon CloudWatch pricing, alarms'),
  /** A metric that functions write, for the hours in which they write it. */
  metric: price('metric', 300_000, 300_000, 'Amazon CloudWatch pricing, custom metrics'),
  dashboard: price('dashboard', 3_000_000, 3_000_000, 'Amazon CloudWatch pricing'),
  secret: price('secret', 400_000, 400_000, 'AWS Secrets Manager pricing'),
  webAcl: price('web ACL', 5_000_000, 5_000_000, 'AWS WAF pricing'),
  webAclRule: price('rule', 1_000_000, 1_000_000, 'AWS WAF pricing'),
  logGb: price('GB', 500_000, 630_000, 'Amazon CloudWatch pricing, logs collected, Standard'),
  logStorage: price('GB-month', 30_000, 32_400, 'Amazon CloudWatch pricing, logs stored'),
  trafficGb: price('GB', 90_000, 90_000, 'Amazon EC2 pricing, data transfer out to the internet'),
  /**
   * A Lambda Managed Instance of the smallest type in the templates: two CPUs, 4 GB. The others, m7g.large and r7g.large, cost
   * 13 and 48 % more in us-east-1: see `aws-samples/sample-aws-lambda-managed-instances`.
   */
  instanceHour: price('instance hour', 72_500, 82_500, 'Amazon EC2 on-demand pricing, Linux, c7g.large'),
  /** In addition to the instance, without its discounts. */
  instanceFeeHour: price(
    'management fee hour',
    0.15 * 72_500,
    0.15 * 82_500,
    'AWS Lambda pricing, Lambda Managed Instances: 15 % of the on-demand price',
  ),
  natHour: price('NAT gateway hour', 45_000, 52_000, 'Amazon VPC pricing, NAT gateway'),
  /** A gigabyte through a NAT gateway, in either direction. */
  natGb: price('NAT gateway GB', 45_000, 52_000, 'Amazon VPC pricing, NAT gateway'),
  addressHour: price('public address hour', 5_000, 5_000, 'Amazon VPC pricing, public IPv4 addresses'),
  /** An interface endpoint in one zone. */
  endpointHour: price(
    'endpoint hour',
    10_000,
    12_000,
    'AWS PrivateLink pricing, interface endpoints; `EUC1-VpcEndpoint-Hours`',
  ),
} as const;

export type Unit = keyof typeof prices;

export const dollarsPerMillion = (unit: Unit, amount: number, region: PricedRegion = 'us-east-1'): number =>
  prices[unit].dollarsPerMillion[region] * amount;

export const unitDollars = (unit: Unit, amount: number, region?: PricedRegion): number =>
  dollarsPerMillion(unit, amount, region) / 1e6;

/**
 * Monthly tiers of REST API requests in us-east-1 ("Cost optimization" in AWS's whitepaper "Best Practices for Designing Amazon
 * API Gateway Private APIs and Private Integration"). For eu-central-1 they are unknown, so the first tier is used.
 */
const apiTiers = [
  { requests: 333e6, dollarsPerMillion: 3.5 },
  { requests: 667e6, dollarsPerMillion: 2.8 },
  { requests: 19e9, dollarsPerMillion: 2.38 },
  { requests: Infinity, dollarsPerMillion: 1.51 },
] as const;

/** Dollars for this many REST API requests in a month. */
export function apiDollars(requests: number, region: PricedRegion): number {
  if (region !== 'us-east-1') return dollarsPerMillion('apiRequest', requests / 1e6, region);
  let left = requests;
  let dollars = 0;
  for (const tier of apiTiers) {
    const inTier = Math.min(left, tier.requests);
    dollars += (inTier / 1e6) * tier.dollarsPerMillion;
    left -= inTier;
  }
  return dollars;
}

/** QStash's pay-as-you-go price per message: `https://upstash.com/pricing/qstash`, $1 for 100,000, including retries. */
export const qstashDollarsPerMillion = 10;
