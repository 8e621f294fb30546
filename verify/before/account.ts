/** The checks before a deployment read these things in one region of an AWS account. */
import { GetAccountCommand } from '@aws-sdk/client-api-gateway';
import { DescribeStacksCommand, ValidateTemplateCommand } from '@aws-sdk/client-cloudformation';
import { GetMetricDataCommand, type MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { stackResources } from '../../operate/stackResources.ts';
import { readersIn } from '../clients.ts';
import { isTaken, type Named } from './names.ts';

export interface Stack {
  readonly status: string;
  readonly isProtected: boolean;
  /** The logical ids of its resources that are there. */
  readonly logicalIds: ReadonlySet<string>;
}

export interface AwsAccount {
  readonly identity: () => Promise<{ readonly account: string; readonly caller: string }>;
  /** @returns undefined where the region has no bootstrap stack */
  readonly bootstrapVersion: (qualifier: string) => Promise<number | undefined>;
  /** @returns undefined where there is no such stack */
  readonly stack: (name: string) => Promise<Stack | undefined>;
  readonly isTaken: (named: Named) => Promise<boolean>;
  /** Executions at once of all functions, and those that no function has reserved. */
  readonly concurrency: () => Promise<{ readonly limit: number; readonly unreserved: number }>;
  /** The account's settings in API Gateway; `logRole` is undefined where it has none. */
  readonly gateway: () => Promise<{
    readonly logRole: string | undefined;
    readonly rate: number;
    readonly burst: number;
  }>;
  /** @throws the error of CloudWatch for metrics or expressions that it does not take */
  readonly evaluate: (queries: MetricDataQuery[]) => Promise<void>;
  /** @throws the error of CloudFormation for a template that it does not take */
  readonly validate: (template: string) => Promise<void>;
}

const isNamed = (error: unknown, form: RegExp): error is Error =>
  error instanceof Error && form.test(error.name);

export function openAccount(region: string): AwsAccount {
  const readers = readersIn(region);
  const { apiGateway, cloudFormation, cloudWatch, lambda, ssm, sts } = readers;
  return {
    identity: async () => {
      const { Account = '', Arn = '' } = await sts.send(new GetCallerIdentityCommand({}));
      return { account: Account, caller: Arn };
    },
    bootstrapVersion: async (qualifier) => {
      try {
        const Name = `/cdk-bootstrap/${qualifier}/version`;
        const { Parameter } = await ssm.send(new GetParameterCommand({ Name }));
        return Number(Parameter?.Value);
      } catch (error) {
        if (isNamed(error, /ParameterNotFound/)) return undefined;
        throw error;
      }
    },
    stack: async (StackName) => {
      try {
        const { Stacks = [] } = await cloudFormation.send(new DescribeStacksCommand({ StackName }));
        const logicalIds = new Set<string>();
        for await (const { logicalId, status } of stackResources(cloudFormation, StackName))
          if (!/^(DELETE_COMPLETE|CREATE_FAILED)$/.test(status)) logicalIds.add(logicalId);
        const { StackStatus = '', EnableTerminationProtection = false } = Stacks[0] ?? {};
        return { status: StackStatus, isProtected: EnableTerminationProtection, logicalIds };
      } catch (error) {
        if (isNamed(error, /ValidationError/) && error.message.includes('does not exist')) return undefined;
        throw error;
      }
    },
    isTaken: (named) => isTaken(readers, named),
    concurrency: async () => {
      const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
      const { ConcurrentExecutions = 0, UnreservedConcurrentExecutions = 0 } = AccountLimit ?? {};
      return { limit: ConcurrentExecutions, unreserved: UnreservedConcurrentExecutions };
    },
    gateway: async () => {
      const { cloudwatchRoleArn, throttleSettings } = await apiGateway.send(new GetAccountCommand({}));
      const { rateLimit = 0, burstLimit = 0 } = throttleSettings ?? {};
      return { logRole: cloudwatchRoleArn, rate: rateLimit, burst: burstLimit };
    },
    evaluate: async (MetricDataQueries) => {
      const EndTime = new Date();
      const StartTime = new Date(EndTime.getTime() - 3_600_000);
      await cloudWatch.send(new GetMetricDataCommand({ MetricDataQueries, StartTime, EndTime }));
    },
    validate: async (TemplateBody) => {
      await cloudFormation.send(new ValidateTemplateCommand({ TemplateBody }));
    },
  };
}
