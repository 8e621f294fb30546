/** The props of `SvcQueue`: the settings of `lib/settings.ts`, which checks them, with the names and defaults of docs/settings.md. */

/** A service whose endpoint a VPC gets. */
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

/** All props may be left out. A wrong one fails synthesis with a sentence that says what is allowed. */
export interface SvcQueueProps {
  /**
   * The AWS account of the stacks. Give it where the stacks that use the queue have one, such as
   * `process.env.CDK_DEFAULT_ACCOUNT`.
   *
   * @default that of the `Stage` around it; otherwise the templates fit any account
   */
  readonly awsAccount?: string | undefined;
  /**
   * Values of several other props that belong together, for experiments or for production. Props that are given win.
   *
   * @default none
   */
  readonly stage?: 'dev' | 'prod' | undefined;
  /**
   * The beginning of the name of every stack and of every resource with a fixed name. Two queues in one AWS account and
   * region need two names.
   *
   * @default 'Svc'
   */
  readonly name?: string;
  /**
   * The regions. The first has the management API, and the accounts, schedules and URL groups that the app makes.
   *
   * @default ['eu-central-1', 'us-east-1']
   */
  readonly regions?: readonly string[];
  /**
   * Whether data outlives its stack and is protected from deletion.
   *
   * @default true
   */
  readonly retain?: boolean;
  /**
   * Whether tables can be restored to any second of the last 35 days.
   *
   * @default as `retain`
   */
  readonly pointInTimeRecovery?: boolean | undefined;
  /**
   * Tables that replace those of their stack after a restore, as `region=table:name`: see docs/recovery.md.
   *
   * @default []
   */
  readonly restoredTables?: readonly string[];
  /**
   * The days that logs are kept: a number that CloudWatch Logs takes.
   *
   * @default 30
   */
  readonly logRetentionDays?: number;
  /** @default 'INFO' */
  readonly logLevel?: 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'FATAL';
  /**
   * The prefixes of headers that requests may have.
   *
   * @default ['Svc', 'Upstash']
   */
  readonly headerPrefixes?: readonly string[];
  /**
   * Private addresses, networks and hosts to which messages may go all the same.
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
   * The path of a file in PEM with the certificates of authorities that deliveries trust besides the public ones.
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
   * Hosts, with all names below them, and networks that are reached without the proxy.
   *
   * @default []
   */
  readonly outboundProxyExcept?: readonly string[];
  /**
   * More hosts of the service's own APIs, such as that of a CDN before them: no message may go there.
   *
   * @default []
   */
  readonly ownHosts?: readonly string[];
  /**
   * The group of the schedules in EventBridge Scheduler. `default` is the one that every AWS account has.
   *
   * @default one of the name of the deployment, which is made
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
   * The most executions at once of each of the three delivery functions.
   *
   * @default 200
   */
  readonly deliveryConcurrency?: number;
  /**
   * MB of memory of the delivery functions, 256 to 2925; the one for slow hosts has three and a half times as much. With less than 512 one execution delivers fewer messages at once.
   *
   * @default 512
   */
  readonly deliveryMemory?: number;
  /**
   * Waits for answers that take longer than 30 s: functions, for
   * at most 14 minutes, or functions on managed instances, for 88 minutes. Instances are billed by the hour, used or not.
   *
   * @default 'functions'
   */
  readonly longDelivery?: 'functions' | 'instances';
  /**
   * The least execution environments on managed instances, each with 2 GB and one vCPU. With less than 3 they are in fewer zones.
   *
   * @default 3
   */
  readonly longEnvironments?: number | undefined;
  /**
   * Seconds for which Lambda gathers messages that may wait up to 30 s for their answer, before it invokes the delivery function.
   *
   * @default 0
   */
  readonly batchingWindow?: number;
  /**
   * Write units a second that the table of messages and its index each have, the least and the most, such as `100-4000`. Set it
   * together with `readCapacity`.
   *
   * @default on demand
   */
  readonly writeCapacity?: string | undefined;
  /**
   * Read units a second that the table of messages and its index each have, the least and the most, such as `50-2000`.
   *
   * @default on demand
   */
  readonly readCapacity?: string | undefined;
  /**
   * Executions that count outcomes side by side, each other shards of all accounts.
   *
   * @default 1
   */
  readonly countingParts?: number;
  /**
   * Executions reserved for publishing, and its limit.
   *
   * @default none
   */
  readonly publishConcurrency?: number | undefined;
  /**
   * Whether publish also has its own URL, which costs nothing per request.
   *
   * @default false
   */
  readonly publishUrl?: boolean;
  /**
   * Whether each region has a dashboard, alarms with a topic, and saved queries, or the essential alarms only.
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
   * Whether a deployment moves a tenth of the invocations to a new release first, for five minutes, and takes it back on an alarm.
   *
   * @default false
   */
  readonly canary?: boolean;
  /**
   * The addresses that get a mail from each alarm.
   *
   * @default []
   */
  readonly alarmEmails?: readonly string[];
  /**
   * The AWS account's limit of executions at once in a region, which an alarm compares with.
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
   * The most requests from one address in five minutes, with a firewall.
   *
   * @default 100000
   */
  readonly firewallRate?: number;
  /**
   * Custom domains of the APIs, as `region=name`, or `management=name` for the management API's.
   *
   * @default []
   */
  readonly domains?: readonly string[];
  /**
   * The ARNs of the certificates of these domains in ACM, one in each region that has a domain.
   *
   * @default []
   */
  readonly certificates?: readonly string[];
  /**
   * The id of the zone of Route 53 that gets the domains' records.
   *
   * @default none: the operator makes the records
   */
  readonly hostedZone?: string | undefined;
  /**
   * The VPCs in which the delivery functions run, as `region=id`.
   *
   * @default []: Lambda's own network
   */
  readonly vpcs?: readonly string[];
  /**
   * The subnets of these VPCs, as `region=id`.
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
   * Whether the VPCs get endpoints of the AWS services that deliveries call, or a list of those that they get.
   *
   * @default false
   */
  readonly vpcEndpoints?: boolean | readonly EndpointService[];
  /**
   * The route tables of the subnets, as `region=id`, to which endpoints of DynamoDB and S3 are added.
   *
   * @default []
   */
  readonly routeTables?: readonly string[];
  /**
   * Elastic addresses from which all deliveries of a region come, as `region=id`.
   *
   * @default []
   */
  readonly fixedAddresses?: readonly string[];
  /**
   * The ids of the zones of the NAT gateways with these addresses, as `region=id`, such as `eu-central-1=euc1-az2`: one for each.
   *
   * @default []: the first zones of the region by letter
   */
  readonly zones?: readonly string[];
  /**
   * The ports that deliveries may reach from within a VPC, where the service makes the security group.
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
   * The factor by which a call to AWS may take longer than usual before it is tried again. More than 1 is for emulators.
   *
   * @default 1
   */
  readonly clientPatience?: number;
  /**
   * Whether to make the role with which API Gateway writes access logs. There is one for an AWS account and region.
   *
   * @default true
   */
  readonly gatewayLogRole?: boolean;
}
