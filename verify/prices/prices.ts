/**
 * AWS's list prices in dollars per million units: the first tier, without free allowances and discounts. Units billed by the
 * month have a month's price.
 */

export const pricedRegions = ['us-east-1', 'eu-central-1'] as const;
export type PricedRegion = (typeof pricedRegions)[number];

/** The region whose prices are used: the given one, or us-east-1 if its prices are unknown. */
export const pricedRegionOf = (region: string): PricedRegion =>
  pricedRegions.find((one) => one === region) ?? pricedRegions[0];

interface Price {
  readonly unit: string;
  readonly dollarsPerMillion: Readonly<Record<PricedRegion, number>>;
  readonly source: string;
}

/**
 * The day on which the prices were last checked, in published copies of AWS's Price List Bulk API,
 * `https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/<service>/current/<region>/index.json`, from August and September
 * 2026. Other sources: a note of AWS's page for DynamoDB's capacity hours in eu-central-1; AWS's pages for web ACLs and keys,
 * which cost the same everywhere; and for EC2's hours, `catalogs/v8/aws/vms.csv` of the public repository
 * `skypilot-org/skypilot-catalog`, which matches AWS's examples for us-east-1. Many other pages still show DynamoDB's request
 * prices from before November 2024, which are twice as high.
 */
export const pricedOn = '2026-11-26';

/** A month on AWS's pages. */
export const hoursOfMonth = 730;
export const daysOfMonth = hoursOfMonth / 24;
export const secondsOfMonth = hoursOfMonth * 3_600;

const everywhere = (dollars: number) => ({ 'us-east-1': dollars, 'eu-central-1': dollars });
const byRegion = (usEast1: number, euCentral1: number) => ({
  'us-east-1': usEast1,
  'eu-central-1': euCentral1,
});

export const prices = {
  apiRequest: {
    unit: 'API request',
    dollarsPerMillion: byRegion(3.5, 3.7),
    source: 'Amazon API Gateway pricing, REST APIs; `EUC1-ApiGatewayRequest`',
  },
  lambdaRequest: {
    unit: 'Lambda request',
    dollarsPerMillion: everywhere(0.2),
    source: 'AWS Lambda pricing, arm64',
  },
  /** One request per 64 KB. */
  sqsRequest: {
    unit: 'SQS request',
    dollarsPerMillion: everywhere(0.4),
    source: 'Amazon SQS pricing, standard queues',
  },
  /** In addition to the request. Only requests that send have a group. */
  sqsGroup: {
    unit: 'SQS group',
    dollarsPerMillion: everywhere(0.1),
    source: 'Amazon SQS pricing, fair queues',
  },
  scheduled: {
    unit: 'Scheduler send',
    dollarsPerMillion: byRegion(1, 1.15),
    source: 'Amazon EventBridge pricing, Scheduler',
  },
  dynamoWrite: {
    unit: 'write unit',
    dollarsPerMillion: byRegion(0.625, 0.7625),
    source: 'Amazon DynamoDB pricing, on-demand',
  },
  dynamoRead: {
    unit: 'read unit',
    dollarsPerMillion: byRegion(0.125, 0.1525),
    source: 'Amazon DynamoDB pricing, on-demand',
  },
  /** A unit of provisioned capacity for an hour, which carries up to 3,600 write units. */
  dynamoWriteHour: {
    unit: 'write capacity hour',
    dollarsPerMillion: byRegion(650, 793),
    source: 'Amazon DynamoDB pricing, provisioned capacity',
  },
  dynamoReadHour: {
    unit: 'read capacity hour',
    dollarsPerMillion: byRegion(130, 158.6),
    source: 'Amazon DynamoDB pricing, provisioned capacity',
  },
  dynamoStorage: {
    unit: 'GB-month',
    dollarsPerMillion: byRegion(250_000, 306_000),
    source: 'Amazon DynamoDB pricing, Standard table class',
  },
  dynamoRecovery: {
    unit: 'GB-month',
    dollarsPerMillion: byRegion(200_000, 244_800),
    source: 'Amazon DynamoDB pricing, point-in-time recovery',
  },
  s3Put: {
    unit: 'S3 PUT',
    dollarsPerMillion: byRegion(5, 5.4),
    source: 'Amazon S3 pricing, S3 Standard',
  },
  s3Get: {
    unit: 'S3 GET',
    dollarsPerMillion: byRegion(0.4, 0.43),
    source: 'Amazon S3 pricing, S3 Standard',
  },
  s3Storage: {
    unit: 'GB-month',
    dollarsPerMillion: byRegion(23_000, 24_500),
    source: 'Amazon S3 pricing, S3 Standard',
  },
  secretRead: {
    unit: 'secret read',
    dollarsPerMillion: everywhere(5),
    source: 'AWS Secrets Manager pricing',
  },
  /** A gigabyte of a function's memory for a second. */
  lambdaGbSecond: {
    unit: 'GB-second',
    dollarsPerMillion: everywhere(13.3334),
    source: 'AWS Lambda pricing, arm64',
  },
  alarmMetric: {
    unit: 'alarm metric',
    dollarsPerMillion: everywhere(100_000),
    source: 'Amazon CloudWatch pricing, alarms',
  },
  /** A metric that functions write, for the hours in which they write it. */
  metric: {
    unit: 'metric',
    dollarsPerMillion: everywhere(300_000),
    source: 'Amazon CloudWatch pricing, custom metrics',
  },
  dashboard: {
    unit: 'dashboard',
    dollarsPerMillion: everywhere(3_000_000),
    source: 'Amazon CloudWatch pricing',
  },
  secret: {
    unit: 'secret',
    dollarsPerMillion: everywhere(400_000),
    source: 'AWS Secrets Manager pricing',
  },
  webAcl: { unit: 'web ACL', dollarsPerMillion: everywhere(5_000_000), source: 'AWS WAF pricing' },
  webAclRule: { unit: 'rule', dollarsPerMillion: everywhere(1_000_000), source: 'AWS WAF pricing' },
  logGb: {
    unit: 'GB',
    dollarsPerMillion: byRegion(500_000, 630_000),
    source: 'Amazon CloudWatch pricing, logs collected, Standard',
  },
  logStorage: {
    unit: 'GB-month',
    dollarsPerMillion: byRegion(30_000, 32_400),
    source: 'Amazon CloudWatch pricing, logs stored',
  },
  trafficGb: {
    unit: 'GB',
    dollarsPerMillion: everywhere(90_000),
    source: 'Amazon EC2 pricing, data transfer out to the internet',
  },
  /**
   * A Lambda Managed Instance of the smallest type in the templates: two CPUs, 4 GB. The others, m7g.large and r7g.large, cost
   * 13 and 48 % more in us-east-1: see `aws-samples/sample-aws-lambda-managed-instances`.
   */
  instanceHour: {
    unit: 'instance hour',
    dollarsPerMillion: byRegion(72_500, 82_500),
    source: 'Amazon EC2 on-demand pricing, Linux, c7g.large',
  },
  /** In addition to the instance, without its discounts. */
  instanceFeeHour: {
    unit: 'management fee hour',
    dollarsPerMillion: byRegion(0.15 * 72_500, 0.15 * 82_500),
    source: 'AWS Lambda pricing, Lambda Managed Instances: 15 % of the on-demand price',
  },
  natHour: {
    unit: 'NAT gateway hour',
    dollarsPerMillion: byRegion(45_000, 52_000),
    source: 'Amazon VPC pricing, NAT gateway',
  },
  /** A gigabyte through a NAT gateway, in either direction. */
  natGb: {
    unit: 'NAT gateway GB',
    dollarsPerMillion: byRegion(45_000, 52_000),
    source: 'Amazon VPC pricing, NAT gateway',
  },
  addressHour: {
    unit: 'public address hour',
    dollarsPerMillion: everywhere(5_000),
    source: 'Amazon VPC pricing, public IPv4 addresses',
  },
  /** An interface endpoint in one zone. */
  endpointHour: {
    unit: 'endpoint hour',
    dollarsPerMillion: byRegion(10_000, 12_000),
    source: 'AWS PrivateLink pricing, interface endpoints; `EUC1-VpcEndpoint-Hours`',
  },
} as const satisfies Record<string, Price>;

export type Unit = keyof typeof prices;

/** Dollars for a million times this many units. */
export const dollarsPerMillion = (unit: Unit, amount: number, region: PricedRegion = 'us-east-1'): number =>
  prices[unit].dollarsPerMillion[region] * amount;

/** Dollars for this many units. */
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
