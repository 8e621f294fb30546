/** Everything that the checks before a deployment read in one region of an AWS account. */
import { DescribeCertificateCommand } from '@aws-sdk/client-acm';
import { GetAccountCommand } from '@aws-sdk/client-api-gateway';
import {
  type CloudFormationClient,
  ListChangeSetsCommand,
  paginateListExports,
} from '@aws-sdk/client-cloudformation';
import { GetMetricDataCommand, type MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import { SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda';
import { paginateListServiceQuotas } from '@aws-sdk/client-service-quotas';
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { allOf, ifThere } from '../../operate/awsCalls.ts';
import { describeStack, stackResources } from '../../operate/stackResources.ts';
import { changeSetClientsIn, type Clients, readersIn } from '../clients.ts';
import { type ChangeSetAsked, isOwnChangeSet, tryChangeSet } from './changeSet.ts';
import { isTaken, type Named } from './names.ts';
import { openNetwork } from './network.ts';

export type Stack = NonNullable<Awaited<ReturnType<AwsAccount['stack']>>>;

export interface Quota {
  readonly code: string;
  readonly name: string;
  readonly value: number;
}

export type AwsAccount = ReturnType<typeof openAccount>;

/** Whether a stack was never deployed, and only has change sets of an earlier run. */
async function isOfOwnChangeSets(client: CloudFormationClient, StackName: string): Promise<boolean> {
  const { Summaries = [] } = await client.send(new ListChangeSetsCommand({ StackName }));
  return Summaries.length > 0 && Summaries.every(({ ChangeSetName = '' }) => isOwnChangeSet(ChangeSetName));
}

const urlActions = ['lambda:CreateFunctionUrlConfig', 'lambda:AddPermission'];

/**
 * Asks IAM to simulate whether CloudFormation may create public function URLs, including organisation policies.
 *
 * "The IAM policy simulator evaluates statements in identity-based policies, service control policies (SCPs) including their
 * condition keys and resource scoping, and the inputs that you provide" (IAM API Reference, SimulatePrincipalPolicy).
 *
 * @returns undefined if the bootstrap has no role for CloudFormation
 */
async function simulatePublicUrls({ iam, sts }: Clients, region: string, qualifier: string) {
  const { Account = '', Arn = '' } = await sts.send(new GetCallerIdentityCommand({}));
  const partition = Arn.split(':')[1] ?? 'aws';
  const role = `cdk-${qualifier}-cfn-exec-role-${Account}-${region}`;
  const simulated = await ifThere(
    iam.send(
      new SimulatePrincipalPolicyCommand({
        PolicySourceArn: `arn:${partition}:iam::${Account}:role/${role}`,
        ActionNames: urlActions,
        ResourceArns: [`arn:${partition}:lambda:${region}:${Account}:function:publish`],
        ContextEntries: [
          {
            ContextKeyName: 'lambda:FunctionUrlAuthType',
            ContextKeyValues: ['NONE'],
            ContextKeyType: 'string',
          },
        ],
      }),
    ),
    /^NoSuchEntity/,
  );
  if (simulated === undefined) return undefined;
  const { EvaluationResults = [] } = simulated;
  const byOrganization = EvaluationResults.flatMap(
    ({ OrganizationsDecisionDetail }) => OrganizationsDecisionDetail?.AllowedByOrganizations ?? [],
  );
  return {
    isAllowed: EvaluationResults.every(({ EvalDecision }) => EvalDecision === 'allowed'),
    // Undefined if the account is in no organisation.
    isAllowedByOrganization: byOrganization.length === 0 ? undefined : byOrganization.every(Boolean),
  };
}

export function openAccount(region: string) {
  const readers = readersIn(region);
  const { acm, apiGateway, cloudFormation, cloudWatch, lambda, quotas, ssm, sts } = readers;
  return {
    identity: async () => {
      const { Account = '', Arn = '' } = await sts.send(new GetCallerIdentityCommand({}));
      return { account: Account, caller: Arn };
    },
    /** @returns undefined if the region has no bootstrap stack */
    bootstrapVersion: async (qualifier: string) => {
      const Name = `/cdk-bootstrap/${qualifier}/version`;
      const found = await ifThere(ssm.send(new GetParameterCommand({ Name })), /^ParameterNotFound/);
      return found && Number(found.Parameter?.Value);
    },
    /** @returns undefined if the stack does not exist */
    stack: async (name: string) => {
      const stack = await describeStack(cloudFormation, name);
      if (stack === undefined) return undefined;
      const { StackStatus: status = '', EnableTerminationProtection: isProtected = false } = stack;
      const resources = (await stackResources(cloudFormation, name)).filter(
        (one) => !/^(DELETE_COMPLETE|CREATE_FAILED)$/.test(one.status),
      );
      return {
        status,
        isProtected,
        logicalIds: new Set(resources.map(({ logicalId }) => logicalId)),
        physicalIds: new Set(resources.map(({ physicalId }) => physicalId)),
        /** Whether the stack has only change sets of an earlier run. */
        isOfChangeSets: status === 'REVIEW_IN_PROGRESS' && (await isOfOwnChangeSets(cloudFormation, name)),
      };
    },
    isTaken: (named: Named) => isTaken(readers, named),
    /** The concurrent executions of all functions, and how many of them are unreserved. */
    concurrency: async () => {
      const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand({}));
      const { ConcurrentExecutions = 0, UnreservedConcurrentExecutions = 0 } = AccountLimit ?? {};
      return { limit: ConcurrentExecutions, unreserved: UnreservedConcurrentExecutions };
    },
    /** Bytes of the code of all functions and layers with their versions, and how many Lambda stores. */
    codeStorage: async () => {
      const { AccountLimit, AccountUsage } = await lambda.send(new GetAccountSettingsCommand({}));
      return { used: AccountUsage?.TotalCodeSize ?? 0, limit: AccountLimit?.TotalCodeSize ?? 0 };
    },
    /** The account's settings in API Gateway, with `logRole` undefined if it is not set. */
    gateway: async () => {
      const { cloudwatchRoleArn, throttleSettings } = await apiGateway.send(new GetAccountCommand({}));
      const { rateLimit = 0, burstLimit = 0 } = throttleSettings ?? {};
      return { logRole: cloudwatchRoleArn, rate: rateLimit, burst: burstLimit };
    },
    /** @throws CloudWatch's error if it refuses metrics or expressions */
    evaluate: async (MetricDataQueries: MetricDataQuery[]) => {
      const EndTime = new Date();
      const StartTime = new Date(EndTime.getTime() - 3_600_000);
      await cloudWatch.send(new GetMetricDataCommand({ MetricDataQueries, StartTime, EndTime }));
    },
    exports: async (): Promise<ReadonlySet<string>> => {
      const all = await allOf(paginateListExports({ client: cloudFormation }, {}), ({ Exports }) => Exports);
      return new Set(all.map(({ Name = '' }) => Name));
    },
    /** @throws CloudFormation's error if it cannot make a change set of the template */
    changeSet: (asked: ChangeSetAsked) => tryChangeSet(changeSetClientsIn(region), asked),
    network: openNetwork(readers),
    certificate: async (CertificateArn: string) => {
      const { Certificate } = await acm.send(new DescribeCertificateCommand({ CertificateArn }));
      const {
        Status = 'untold',
        DomainName = '',
        SubjectAlternativeNames = [],
        NotAfter,
      } = Certificate ?? {};
      return { status: Status, names: [DomainName, ...SubjectAlternativeNames], expiresAt: NotAfter };
    },
    quotas: async (ServiceCode: string): Promise<readonly Quota[]> => {
      const pages = paginateListServiceQuotas({ client: quotas }, { ServiceCode });
      const all = await allOf(pages, ({ Quotas }) => Quotas);
      return all.flatMap(({ QuotaCode = '', QuotaName = '', Value }) =>
        Value === undefined ? [] : [{ code: QuotaCode, name: QuotaName, value: Value }],
      );
    },
    mayMakePublicUrls: (qualifier: string) => simulatePublicUrls(readers, region, qualifier),
  };
}
