/**
 * The managed instances that wait for long answers, with the setting `longDelivery`. A function runs for up
 * to 90 minutes, and an execution environment has many invocations at once. EC2 bills the instances even if
 * they are idle.
 */
import { createHash } from 'node:crypto';
import { ArnFormat, Aws, RemovalPolicy, type Stack } from 'aws-cdk-lib';
import { ManagedPolicy, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, CfnCapacityProvider } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import {
  aloneConcurrency,
  messagesInMemory,
  mostConcurrency,
  queues,
  type longAnswerQueues,
} from '../../lambdas/aws/resources.ts';
import { accept, acceptLog } from '../acknowledge.ts';
import type { Settings } from '../settings.ts';
import { allow } from '../statements.ts';
import { type FunctionNetwork, makeInstancesNetwork } from './network/network.ts';

/**
 * MB of the smallest execution environment, "2GB and 1vCPU" ("Scaling Lambda Managed Instances"). Waiting attempts need hardly
 * any CPU, and smaller environments share load and cost better.
 */
const memoryMb = 2_048;
const memoryGibPerVCpu = 2;

/** Lambda's maximum for each vCPU, or fewer if memory is short. Each invocation has one message. */
const mostInvocations = Math.min(64, messagesInMemory(memoryMb));

const defaultEnvironments = 3;

/** Instance types of all regions, with two vCPUs each. By default Lambda may take larger ones, and three of those cost more. */
const instanceTypes = ['c7g.large', 'm7g.large', 'r7g.large'] as const;

type LongAnswerQueue = (typeof longAnswerQueues)[number];

export interface Placement {
  readonly provider: CfnCapacityProvider;
  /**
   * A part of the function's logical id. If it changes, another function is made, because a function can
   * change neither its compute type ("CapacityProviderConfig isn't supported for Lambda Default functions")
   * nor its provider's network.
   */
  readonly key: string;
  readonly memoryMb: number;
  readonly memoryGibPerVCpu: number;
  readonly invocations: number;
  /** The most invocations of all environments at once: the event source mapping's limit. */
  readonly maxConcurrency: number;
  readonly environments: { readonly least: number; readonly most: number };
}

type Sizes = Readonly<
  Record<LongAnswerQueue, Pick<Placement, 'invocations' | 'maxConcurrency' | 'environments'>>
>;

function sizesOf({ deliveryConcurrency, longEnvironments: least = defaultEnvironments }: Settings): Sizes {
  // The concurrency with which functions and their batches would have as many messages in flight, if an event
  // source mapping allows it.
  const messages = Math.min(mostConcurrency, deliveryConcurrency * queues.long.batchSize);
  const alone = Math.min(aloneConcurrency, deliveryConcurrency);
  return {
    long: {
      invocations: mostInvocations,
      maxConcurrency: messages,
      environments: { least, most: Math.max(least, Math.ceil(messages / mostInvocations)) },
    },
    // A job that kills its environment must be alone in it.
    dead: { invocations: 1, maxConcurrency: alone, environments: { least: 1, most: alone } },
  };
}

interface InstancesProps {
  readonly settings: Settings;
  /** Undefined if a network is to be made. */
  readonly network: FunctionNetwork | undefined;
  readonly may: readonly PolicyStatement[];
}

/** Returns undefined if functions wait for all answers, or for an emulator. */
export const makeInstances = (stack: Stack, props: InstancesProps): Instances | undefined =>
  props.settings.longDelivery === 'instances' && !props.settings.forEmulator
    ? new Instances(stack, 'Instances', props)
    : undefined;

export class Instances extends Construct {
  readonly #placements: Readonly<Record<LongAnswerQueue, Placement>>;
  readonly provider: CfnCapacityProvider;

  constructor(stack: Stack, id: string, { settings, network, may }: InstancesProps) {
    super(stack, id);
    const { vpcConfig, ways } = network ?? makeInstancesNetwork(stack, { settings, may });
    const key = createHash('sha256')
      .update(JSON.stringify(stack.resolve(vpcConfig)))
      .digest('hex')
      .slice(0, 8);
    const sizes = sizesOf(settings);
    this.provider = new CfnCapacityProvider(this, `Provider${key}`, {
      vpcConfig,
      permissionsConfig: { capacityProviderOperatorRoleArn: this.#makeOperator().roleArn },
      instanceRequirements: {
        architectures: [Architecture.ARM_64.name],
        allowedInstanceTypes: [...instanceTypes],
      },
      capacityProviderScalingConfig: { scalingMode: 'Auto', maxVCpuCount: mostVCpus(sizes) },
      // Tags for the instances, to find them in the bill.
      propagateTags: { mode: 'Explicit', explicitTags: [{ key: 'service', value: settings.name }] },
      telemetryConfig: {
        loggingConfig: { logGroup: this.#makeLog(settings).logGroupName, systemLogLevel: 'INFO' },
      },
    });
    this.provider.node.addDependency(ways);
    const place = (queue: LongAnswerQueue): Placement => ({
      provider: this.provider,
      key,
      memoryMb,
      memoryGibPerVCpu,
      ...sizes[queue],
    });
    this.#placements = { long: place('long'), dead: place('dead') };
  }

  placementOf(queue: LongAnswerQueue): Placement {
    return this.#placements[queue];
  }

  #makeOperator(): Role {
    const policy = 'AWSLambdaManagedEC2ResourceOperator';
    const role = new Role(this, 'Operator', {
      // Lambda's documents do not say that it always sends the account.
      assumedBy: new ServicePrincipal('lambda.amazonaws.com', {
        conditions: { StringEqualsIfExists: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(policy)],
    });
    accept(
      role,
      `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${policy}]`,
      'AWS documents its rights as the least for the role ("Lambda operator role for Lambda Managed Instances"), and changes them with ' +
        'the service.',
    );
    return role;
  }

  /** Otherwise Lambda would make a log that is kept forever. */
  #makeLog({ logRetentionDays }: Settings): LogGroup {
    const log = new LogGroup(this, 'Log', {
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acceptLog(log);
    return log;
  }
}

/**
 * The smallest instance has two vCPUs, and may be used for a single environment. While a deployment publishes
 * a version, its environments start in addition to those of the old version.
 */
const mostVCpus = (sizes: Sizes): number =>
  2 * Object.values(sizes).reduce((sum, { environments: { least, most } }) => sum + most + least, 0);

/** Functions on instances send logs and traces from within their VPC. */
export function telemetryRights(stack: Stack, { longDelivery, tracing }: Settings): PolicyStatement[] {
  if (longDelivery === 'functions') return [];
  // CloudFormation names the log groups, and makes them after the endpoints.
  const logs = { service: 'logs', resource: 'log-group', arnFormat: ArnFormat.COLON_RESOURCE_NAME };
  return [
    allow(
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
      stack.formatArn({ ...logs, resourceName: `${stack.stackName}-*` }),
    ),
    // X-Ray has no resources to which these permissions could be limited.
    ...(tracing ? [allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*')] : []),
  ];
}
