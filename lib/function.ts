/** One Lambda of the service, the way they all are. */
import type { Duration } from 'aws-cdk-lib';
import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

/** Where the code of a handler (a file of this name in `lambdas/handlers`) comes from. */
export type CodeOf = (handler: string) => Code;

interface SvcFunctionProps {
  readonly handler: string;
  readonly description: string;
  readonly memorySize: number;
  readonly timeout: Duration;
  readonly environment: Readonly<Record<string, string>>;
  /** All that the function may do besides writing its own log. */
  readonly may: readonly PolicyStatement[];
  /** For a function that sends to the queue that invokes it. */
  readonly mayInvokeItself?: boolean;
  readonly settings: Settings;
  readonly codeOf: CodeOf;
}

export class SvcFunction extends LambdaFunction {
  constructor(scope: Construct, id: string, props: SvcFunctionProps) {
    const { settings } = props;
    const logGroup = new LogGroup(scope, `${id}Log`, {
      retention: settings.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // A role given by hand comes without the managed policy for logging, which allows every log group.
    const role = new Role(scope, `${id}Role`, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    role.addToPolicy(allow(['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn));
    for (const statement of props.may) role.addToPolicy(statement);

    super(scope, id, {
      description: props.description,
      code: props.codeOf(props.handler),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: props.memorySize,
      timeout: props.timeout,
      environment: {
        ...props.environment,
        POWERTOOLS_SERVICE_NAME: id,
        POWERTOOLS_LOG_LEVEL: settings.logLevel,
        POWERTOOLS_METRICS_NAMESPACE: settings.name,
      },
      // A message's retries and callbacks are one long chain of invocations through a queue. Lambda would take it
      // for a runaway loop and end it after 16; here each link is counted and limited by the message itself.
      recursiveLoop: props.mayInvokeItself === true ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[settings.logLevel],
      // Lambda's own START, END and REPORT lines would be most of the log, and most of its bill.
      systemLogLevelV2: SystemLogLevel.WARN,
    });
  }
}

/** Each statement names its actions one by one; see the tests, which refuse any `*`. */
export function allow(actions: readonly string[], ...resources: readonly string[]): PolicyStatement {
  return new PolicyStatement({ actions: [...actions], resources: [...resources] });
}
