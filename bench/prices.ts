/**
 * Public list prices of AWS in us-east-1, in dollars per million units: the first tier, without free allowances and
 * discounts. What is billed by the month, such as a secret, has the price of a month. No other file has a price.
 */

export interface Price {
  readonly unit: string;
  readonly dollarsPerMillion: number;
  /** The list that the price is on. */
  readonly source: string;
}

/**
 * The day on which the prices were last checked, against published copies of the lists and guides to them, of 2024 to June
 * 2026. They agree, but many still show DynamoDB as it was before November 2024, at twice the price.
 */
export const pricedOn = '2026-11-20';

export const prices = {
  apiRequest: {
    unit: 'API request',
    dollarsPerMillion: 3.5,
    source: 'Amazon API Gateway pricing, REST APIs',
  },
  lambdaRequest: { unit: 'Lambda request', dollarsPerMillion: 0.2, source: 'AWS Lambda pricing' },
  /** A request is one for each 64 KB that it carries. */
  sqsRequest: { unit: 'SQS request', dollarsPerMillion: 0.4, source: 'Amazon SQS pricing, standard queues' },
  /** On top of the request. Only requests that send have a group. */
  sqsGroup: { unit: 'SQS group', dollarsPerMillion: 0.1, source: 'Amazon SQS pricing, fair queues' },
  /** Each message that Scheduler sends. */
  scheduled: {
    unit: 'Scheduler send',
    dollarsPerMillion: 1,
    source: 'Amazon EventBridge pricing, Scheduler',
  },
  dynamoWrite: { unit: 'write unit', dollarsPerMillion: 0.625, source: 'Amazon DynamoDB pricing, on-demand' },
  dynamoRead: { unit: 'read unit', dollarsPerMillion: 0.125, source: 'Amazon DynamoDB pricing, on-demand' },
  s3Put: { unit: 'S3 PUT', dollarsPerMillion: 5, source: 'Amazon S3 pricing, S3 Standard' },
  s3Get: { unit: 'S3 GET', dollarsPerMillion: 0.4, source: 'Amazon S3 pricing, S3 Standard' },
  secretRead: { unit: 'secret read', dollarsPerMillion: 5, source: 'AWS Secrets Manager pricing' },
  /** A gigabyte of memory of a function, for a second that it runs. */
  lambdaGbSecond: { unit: 'GB-second', dollarsPerMillion: 13.3334, source: 'AWS Lambda pricing, arm64' },
  alarmMetric: {
    unit: 'alarm metric',
    dollarsPerMillion: 100_000,
    source: 'Amazon CloudWatch pricing, alarms',
  },
  dashboard: { unit: 'dashboard', dollarsPerMillion: 3_000_000, source: 'Amazon CloudWatch pricing' },
  secret: { unit: 'secret', dollarsPerMillion: 400_000, source: 'AWS Secrets Manager pricing' },
  webAcl: { unit: 'web ACL', dollarsPerMillion: 5_000_000, source: 'AWS WAF pricing' },
  webAclRule: { unit: 'rule', dollarsPerMillion: 1_000_000, source: 'AWS WAF pricing' },
  logGb: { unit: 'GB', dollarsPerMillion: 500_000, source: 'Amazon CloudWatch pricing, logs collected' },
} as const satisfies Record<string, Price>;

export type Unit = keyof typeof prices;

/** The price of a million times so many units, in dollars. */
export const dollarsPerMillion = (unit: Unit, amount: number): number =>
  prices[unit].dollarsPerMillion * amount;
