import { createHash } from 'node:crypto';
import { type Duration, Lazy, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  ApplicationLogLevel,
  Architecture,
  CfnFunction,
  type Code,
  Function as LambdaFunction,
  type LayerVersion,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { functionMemoryMb } from '../../lambdas/aws/resources.ts';
import type { Environment } from '../../lambdas/aws/settings.ts';
import { accept, acceptLog, acceptOwnPolicy, PatternStatement } from '../acknowledge.ts';
import type { FunctionEnvironment } from './environment.ts';
import { extraCaVariables } from './extraCa.ts';
import type { Placement } from './instances.ts';
import { connectToVpc, type FunctionNetwork } from './network/network.ts';
import type { Settings } from '../settings.ts';
import { allow } from '../statements.ts';

/** Finds the code of a handler by its file name in `lambdas/handlers`. */
export type CodeOf = (handler: string) => Code;

export interface SharedProps {
  readonly environment: FunctionEnvironment;
  readonly settings: Settings;
  readonly codeOf: CodeOf;
  /** The default is Lambda's own network. */
  readonly network?: FunctionNetwork | undefined;
  readonly extraCa?: LayerVersion | undefined;
  readonly variables?: Readonly<Partial<Environment>>;
}

export interface SvcFunctionProps extends SharedProps {
  readonly handler: string;
  readonly description: string;
  readonly timeout: Duration;
  /** MB. The default is {@link functionMemoryMb}. */
  readonly memoryMb?: number | undefined;
  /** All permissions except for writing the function's log. */
  readonly may: readonly PolicyStatement[];
  /** Whether the function sends to the queue that invokes it. */
  readonly mayInvokeItself?: boolean;
  /** For functions on managed instances. */
  readonly placement?: Placement | undefined;
  /** Executions reserved for the function. They are also its limit. */
  readonly reservedConcurrency?: number | undefined;
}

/** Lines of metrics count as INFO, because they have no level. They are kept even if the functions log only higher levels. */
const applicationLogLevel = ({ logLevel }: Settings): ApplicationLogLevel =>
  ['TRACE', 'DEBUG'].includes(logLevel) ? ApplicationLogLevel[logLevel] : ApplicationLogLevel.INFO;

export const notTraced = 'X-Ray is billed by the trace. The setting `tracing` turns it on.';

function acceptFindings(
  fn: SvcFunction,
  { network, placement, reservedConcurrency, settings }: SvcFunctionProps,
): void {
  accept(
    fn,
    ['Serverless-LambdaDLQ', 'NIST.800.53.R5-LambdaDLQ'],
    'A failed invocation is answered with an error, is retried from its queue, or is repeated by its timer.',
  );
  if (reservedConcurrency === undefined) {
    accept(
      fn,
      'NIST.800.53.R5-LambdaConcurrency',
      'Reserved executions are taken from all other functions of the AWS account. Queues limit how many they invoke, and a throttle ' +
        'the requests; the setting `publishConcurrency` reserves some for publishing.',
    );
  }
  if (placement !== undefined)
    accept(fn, 'NIST.800.53.R5-LambdaInsideVPC', 'It is in the VPC of its capacity provider.');
  else if (network === undefined) {
    accept(
      fn,
      'NIST.800.53.R5-LambdaInsideVPC',
      'It reaches AWS and public hosts only. The settings `vpcs` and `fixedAddresses` put the delivery functions into a VPC.',
    );
  }
  if (!settings.tracing) accept(fn, 'Serverless-LambdaTracing', notTraced);
}

export const liveAlias = 'live';

export class SvcFunction extends LambdaFunction {
  readonly isOnInstances: boolean;
  #live: Alias | undefined;
  #isHashing = false;

  /**
   * The alias by which the function is invoked. It points to a version, which has the code and variables of
   * one release. `$LATEST` gets new code and new variables one after the other. A deployment moves the alias
   * at once, or step by step: see `canary.ts`.
   */
  get live(): Alias {
    this.#live ??= new Alias(this, 'Live', { aliasName: liveAlias, version: this.currentVersion });
    return this.#live;
  }

  constructor(scope: Construct, id: string, props: SvcFunctionProps) {
    const { settings, placement } = props;
    const logGroup = new LogGroup(scope, `${id}Log`, {
      retention: settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // A role that the CDK makes has the managed policy for logging, which allows every log group.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    acceptLog(logGroup);
    acceptOwnPolicy(role);
    role.addToPolicy(allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn));
    // Also on instances, because Lambda needs these permissions to disconnect the function that is replaced.
    for (const statement of [...props.may, ...(props.network === undefined ? [] : connectToVpc())]) {
      role.addToPolicy(statement);
      if (statement instanceof PatternStatement) accept(role, statement.rule, statement.reason);
    }
    if (settings.tracing) {
      const reason = 'X-Ray knows no resource that the rights to send traces could name.';
      accept(role, 'AwsSolutions-IAM5[Resource::*]', reason);
    }

    super(scope, placement === undefined ? id : `${id}On${placement.key}`, {
      description: props.description,
      code: props.codeOf(props.handler),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memoryMb ?? functionMemoryMb,
      timeout: props.timeout,
      ...(props.reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: props.reservedConcurrency,
      }),
      environment: {
        ...props.environment,
        ...props.variables,
        ...(settings.clientPatience > 1 && {
          CLIENT_PATIENCE: settings.clientPatience.toString(),
        }),
        ...(settings.tracing && { TRACING: 'true' }),
        ...(props.extraCa && extraCaVariables),
        // The code's memory limits are for one process.
        ...(placement && { AWS_LAMBDA_NODEJS_WORKER_COUNT: '1' }),
        POWERTOOLS_SERVICE_NAME: id,
        POWERTOOLS_LOG_LEVEL: settings.logLevel,
        POWERTOOLS_METRICS_NAMESPACE: settings.name,
        TEMPLATE_HASH: Lazy.string({ produce: () => this.#templateHash() }),
      },
      // A message's retries and callbacks are a long chain of invocations through a queue, which Lambda would
      // stop after 16 rounds as an endless loop. It ends, because the message limits its retries.
      recursiveLoop: props.mayInvokeItself === true ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
      ...(settings.tracing && { tracing: Tracing.ACTIVE }),
      ...(props.extraCa && { layers: [props.extraCa] }),
      // Old versions are kept, so that their invocations can finish there and an operator can point the alias
      // back. After a failed deployment its version is deleted, because Lambda would refuse to publish it
      // again ("A version for this Lambda function exists"). On instances the old version is deleted, because
      // it would keep execution environments.
      currentVersionOptions:
        placement === undefined
          ? { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE }
          : {
              removalPolicy: RemovalPolicy.DESTROY,
              minExecutionEnvironments: placement.environments.least,
              maxExecutionEnvironments: placement.environments.most,
            },
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: applicationLogLevel(settings),
      // Lambda's START, END and REPORT lines would be most of the log's cost.
      systemLogLevelV2: SystemLogLevel.WARN,
    });
    this.isOnInstances = placement !== undefined;
    if (placement !== undefined) this.#place(placement);
    else if (props.network !== undefined) this.#connect(props.network);
    acceptFindings(this, props);
  }

  /**
   * A hash of the function in the template, as a variable. CloudFormation publishes a version whenever the
   * function's template changes, even if only a reference becomes an id. Lambda refuses a version with the
   * same code and variables ("A version for this Lambda function exists"). The hash makes the variables
   * differ.
   */
  #templateHash(): string {
    if (this.#isHashing) return '';
    this.#isHashing = true;
    try {
      const { capacityProviderConfig, code, environment, layers, loggingConfig, role, vpcConfig } =
        this.definition;
      const given = { capacityProviderConfig, code, environment, layers, loggingConfig, role, vpcConfig };
      const texts: unknown = Stack.of(this).resolve(given);
      return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
    } finally {
      this.#isHashing = false;
    }
  }

  get definition(): CfnFunction {
    const { defaultChild } = this.node;
    if (!(defaultChild instanceof CfnFunction)) throw new Error(`${this.node.path} is no function.`);
    return defaultChild;
  }

  #place({ provider, invocations, memoryGibPerVCpu }: Placement): void {
    this.definition.capacityProviderConfig = {
      lambdaManagedInstancesCapacityProviderConfig: {
        capacityProviderArn: provider.attrArn,
        perExecutionEnvironmentMaxConcurrency: invocations,
        executionEnvironmentMemoryGiBPerVCpu: memoryGibPerVCpu,
      },
    };
    // Otherwise CloudFormation would also publish `$LATEST.PUBLISHED`, with execution environments that are never invoked.
    this.definition.publishToLatestPublished = false;
  }

  /** Not by the CDK's own method, which requires zones and other facts that operators may not know. */
  #connect(network: FunctionNetwork): void {
    this.definition.vpcConfig = network.vpcConfig;
    this.node.addDependency(network.ways);
  }
}
