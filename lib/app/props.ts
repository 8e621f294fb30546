/** The settings of `lib/settings.ts`, with the names and defaults of docs/settings.md. */

type EndpointService =
  | 'dynamodb'
  | 's3'
  | 'sqs'
  | 'scheduler'
  | 'secretsmanager'
  | 'lambda'
  | 'sns'
  | 'events'
  | 'logs'
  | 'xray';

/** All props are optional. A wrong one fails synthesis with a sentence that says what is allowed. */
export interface SvcQueueProps {
  /**
   * The AWS account of the stacks. Give it if the stacks that use the queue have one, such as
   * `process.env.CDK_DEFAULT_ACCOUNT`.
   *
   * @default the account of the enclosing `Stage`; otherwise the templates fit any account
   */
  readonly awsAccount?: string | undefined;
  /**
   * Values of several other props, for experiments or for production. Props that are given win.
   *
   * @default none
   */
  readonly stage?: 'dev' | 'prod' | undefined;
  /**
   * The prefix of all stack names and fixed resource names. Two queues in one AWS account and region need two names.
   *
   * @default 'Svc'
   */
  readonly name?: string;
  /**
   * The first region has the management API, and the accounts, schedules and URL groups that the app makes.
   *
   * @default ['eu-central-1', 'us-east-1']
   */
  readonly regions?: readonly string[];
  /**
   * Whether data is protected from deletion and stays when its stack is deleted.
   *
   * @default true
   */
  readonly retain?: boolean;
  /**
   * Whether tables can be restored to any second of the last 35 days.
   *
   * @default the value of `retain`
   */
  readonly pointInTimeRecovery?: boolean | undefined;
  /**
   * Restored tables that replace those of their stack, as `region=table:name`: see docs/recovery.md.
   *
   * @default []
   */
  readonly restoredTables?: readonly string[];
  /**
   * The days that logs are kept: a number that CloudWatch Logs allows.
   *
   * @default 30
   */
  readonly logRetentionDays?: number;
  /** @default 'INFO' */
  readonly logLevel?: 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'FATAL';
  /**
   * The prefixes of request headers.
   *
   * @default ['Svc', 'Upstash']
   */
  readonly headerPrefixes?: readonly string[];
  /**
   * Private addresses, networks and hosts that messages may still go to.
   *
   * @default []
   */
  readonly allowedDestinations?: readonly string[];
  /**
   * Patterns of the ARNs of SQS queues, SNS topics, EventBridge buses and Lambda functions that messages may go to, such as
   * `arn:aws:sqs:eu-central-1:123456789012:orders-*`.
   *
   * @default []
   */
  readonly destinations?: readonly string[];
  /**
   * Patterns of the ARNs of Lambda functions that messages may go to, such as
   * `arn:aws:lambda:eu-central-1:123456789012:function:orders-*`.
   *
   * @default []
   */
  readonly lambdaDestinations?: readonly string[];
  /**
   * The path of a PEM file with certificates of authorities that deliveries trust in addition to the public ones.
   *
   * @default none
   */
  readonly extraCaCertificates?: string | undefined;
  /**
   * The URL of the proxy through which deliveries go, such as `http://proxy.internal:3128`.
   *
   * @default none
   */
  readonly outboundProxy?: string | undefined;
  /**
   * Networks and hosts, with all their subdomains, that are reached without the proxy.
   *
   * @default []
   */
  readonly outboundProxyExcept?: readonly string[];
  /**
   * More hosts of the service's own APIs, such as a CDN in front of them. Messages to them are refused.
   *
   * @default []
   */
  readonly ownHosts?: readonly string[];
  /**
   * The group of the schedules in EventBridge Scheduler. `default` is the one that every AWS account has.
   *
   * @default a group with the name of the deployment, which is made
   */
  readonly scheduleGroup?: string | undefined;
  /**
   * Requests a second that the API takes from all accounts together.
   *
   * @default 10000
   */
  readonly throttleRate?: number;
  /**
   * Requests that the API takes at one instant.
   *
   * @default 5000
   */
  readonly throttleBurst?: number;
  /**
   * The most concurrent executions of each of the three delivery functions.
   *
   * @default 200
   */
  readonly deliveryConcurrency?: number;
  /**
   * MB of memory of the delivery functions, 256 to 2925; the one for slow hosts has 3.5 times as much. With less than 512 an
   * execution delivers fewer messages at once.
   *
   * @default 512
   */
  readonly deliveryMemory?: number;
  /**
   * Waits for answers that take longer than 30 s: functions, for at most 14 minutes, or functions on managed instances, for 88
   * minutes. Instances are billed by the hour, used or not.
   *
   * @default 'functions'
   */
  readonly longDelivery?: 'functions' | 'instances';
  /**
   * The minimum of execution environments on managed instances, each with 2 GB and one vCPU. With less than 3 they are in fewer
   * zones.
   *
   * @default 3
   */
  readonly longEnvironments?: number | undefined;
  /**
   * Seconds for which Lambda gathers messages that may wait up to 30 s for their answer, before it invokes the delivery
   * function.
   *
   * @default 0
   */
  readonly batchingWindow?: number;
  /**
   * Write units a second of the table of messages and of its index, the least and the most, such as `100-4000`. Requires
   * `readCapacity`.
   *
   * @default on demand
   */
  readonly writeCapacity?: string | undefined;
  /**
   * Read units a second of the table of messages and of its index, the least and the most, such as `50-2000`. Requires
   * `writeCapacity`.
   *
   * @default on demand
   */
  readonly readCapacity?: string | undefined;
  /**
   * Concurrent executions that count outcomes. Each counts a part of the shards of all accounts.
   *
   * @default 1
   */
  readonly countingParts?: number;
  /**
   * Executions that are reserved for publishing. They are also its limit.
   *
   * @default none
   */
  readonly publishConcurrency?: number | undefined;
  /**
   * Whether publish has a function URL, which costs nothing per request, and passes on all other requests.
   *
   * @default true, unless `firewall` is
   */
  readonly publishUrl?: boolean;
  /**
   * Whether each region has a dashboard, alarms with a topic, and saved queries; or only the essential alarms.
   *
   * @default true
   */
  readonly monitoring?: boolean | 'essential';
  /**
   * Whether to leave out what emulators of AWS lack.
   *
   * @default false
   */
  readonly forEmulator?: boolean;
  /**
   * Whether a new release gets a tenth of the invocations for five minutes first, and is rolled back on an alarm.
   *
   * @default false
   */
  readonly canary?: boolean;
  /**
   * The addresses that get an e-mail from each alarm.
   *
   * @default []
   */
  readonly alarmEmails?: readonly string[];
  /**
   * The AWS account's limit of concurrent executions in a region, for an alarm.
   *
   * @default 1000
   */
  readonly accountConcurrency?: number;
  /**
   * Whether X-Ray traces requests and their jobs.
   *
   * @default false
   */
  readonly tracing?: boolean;
  /**
   * Whether a web ACL of AWS WAF protects the APIs.
   *
   * @default false
   */
  readonly firewall?: boolean;
  /**
   * With a firewall: the most requests from one address in five minutes.
   *
   * @default 100000
   */
  readonly firewallRate?: number;
  /**
   * Custom domains of the APIs, as `region=name`, or `management=name` for the management API.
   *
   * @default []
   */
  readonly domains?: readonly string[];
  /**
   * The ARNs of ACM certificates for these domains, one in each region that has a domain.
   *
   * @default []
   */
  readonly certificates?: readonly string[];
  /**
   * The id of the Route 53 zone that gets the domains' records.
   *
   * @default none: the operator makes the records
   */
  readonly hostedZone?: string | undefined;
  /**
   * The VPCs of the delivery functions, as `region=id`.
   *
   * @default []: Lambda's own network
   */
  readonly vpcs?: readonly string[];
  /**
   * Their subnets, as `region=id`.
   *
   * @default []
   */
  readonly subnets?: readonly string[];
  /**
   * Security groups of the delivery functions, as `region=id`.
   *
   * @default []: one is made
   */
  readonly securityGroups?: readonly string[];
  /**
   * Whether the VPCs get endpoints of the AWS services that deliveries call, or a list of these services.
   *
   * @default false
   */
  readonly vpcEndpoints?: boolean | readonly EndpointService[];
  /**
   * The route tables of the subnets, as `region=id`, that get routes to DynamoDB and S3.
   *
   * @default []
   */
  readonly routeTables?: readonly string[];
  /**
   * Elastic IP addresses from which all deliveries of a region come, as `region=id`.
   *
   * @default []
   */
  readonly fixedAddresses?: readonly string[];
  /**
   * The zone ids of the NAT gateways with these addresses, as `region=id`, such as `eu-central-1=euc1-az2`: one for each
   * address.
   *
   * @default []: the first zones of the region by letter
   */
  readonly zones?: readonly string[];
  /**
   * The ports that deliveries may reach from a VPC, if the service makes the security group.
   *
   * @default [443, 80]
   */
  readonly deliveryPorts?: readonly number[];
  /**
   * Dollars that a message takes from its account's budget.
   *
   * @default 0.00001
   */
  readonly pricePerMessage?: number;
  /**
   * The factor by which a call to AWS may take longer than usual before it is retried. More than 1 is for emulators.
   *
   * @default 1
   */
  readonly clientPatience?: number;
  /**
   * Whether to make the role with which API Gateway writes access logs. An AWS account and region has only one.
   *
   * @default true
   */
  readonly gatewayLogRole?: boolean;
}
