/** Ways to break a deployment, each with the check of `npm run verify` that must report it. */
import {
  APIGatewayClient,
  CreateDeploymentCommand,
  DeleteGatewayResponseCommand,
  DeleteResourceCommand,
  paginateGetResources,
} from '@aws-sdk/client-api-gateway';
import { DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import {
  type AliasConfiguration,
  DeleteFunctionUrlConfigCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  ListAliasesCommand,
  ListEventSourceMappingsCommand,
  PublishVersionCommand,
  UpdateAliasCommand,
  UpdateEventSourceMappingCommand,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from '@aws-sdk/client-lambda';
import { PutBucketPolicyCommand, S3Client } from '@aws-sdk/client-s3';
import { SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { visibilitySecondsOf } from '../../lambdas/aws/resources.ts';
import type { StackResource } from '../../operate/stackResources.ts';
import { refuse } from './aws.ts';
import { rootUser } from './emulator.ts';

export interface Sabotage {
  readonly what: string;
  /** The check that reports it. */
  readonly check: string;
  /** Breaks the deployment. @returns a function that repairs it; undefined if nothing uses the emulator afterwards */
  readonly strike: (target: Target) => Promise<(() => Promise<unknown>) | undefined>;
}

export interface Target {
  readonly endpoint: string;
  readonly region: string;
  readonly resources: readonly StackResource[];
}

const placeOf = ({ endpoint, region }: Target) => ({ endpoint, region, credentials: rootUser });

/** Finds a resource by its logical id without the eight digits that the CDK adds. */
function idOf({ resources }: Target, type: string, name: string): string {
  const form = new RegExp(`^${name}([0-9A-F]{8})?$`);
  const found = resources.filter((resource) => resource.type === type && form.test(resource.logicalId));
  const [only, ...others] = found;
  if (only === undefined || others.length > 0)
    throw new Error(`The stacks have ${found.length} resources ${name} of ${type}.`);
  return only.physicalId;
}

const functionOf = (target: Target, name: string): string => idOf(target, 'AWS::Lambda::Function', name);

/** The alias of a function; undefined if it is invoked as `$LATEST`. */
async function aliasOf(client: LambdaClient, FunctionName: string): Promise<AliasConfiguration | undefined> {
  const { Aliases = [] } = await client.send(new ListAliasesCommand({ FunctionName }));
  return Aliases[0];
}

/** Changes a function’s variables, and points its alias, if any, to the changed version. */
const changedVariables =
  (name: string, change: Readonly<Record<string, string>>): Sabotage['strike'] =>
  async (target) => {
    const client = new LambdaClient({ ...clientOptions('quick'), ...placeOf(target) });
    const FunctionName = functionOf(target, name);
    const alias = await aliasOf(client, FunctionName);
    const pointTo = async (FunctionVersion: string | undefined): Promise<void> => {
      await client.send(new UpdateAliasCommand({ FunctionName, Name: alias?.Name, FunctionVersion }));
    };
    const { Environment } = await client.send(new GetFunctionConfigurationCommand({ FunctionName }));
    const set = async (Variables: Readonly<Record<string, string>>): Promise<void> => {
      await client.send(new UpdateFunctionConfigurationCommand({ FunctionName, Environment: { Variables } }));
      await waitUntilFunctionUpdatedV2({ client, maxWaitTime: 60 }, { FunctionName });
    };
    const variables = Environment?.Variables ?? {};
    await set({ ...variables, ...change });
    if (alias === undefined) return () => set(variables);
    const { Version } = await client.send(new PublishVersionCommand({ FunctionName }));
    await pointTo(Version);
    return async () => {
      await set(variables);
      await pointTo(alias.FunctionVersion);
    };
  };

/** Disables the event source mapping of a function. */
const disabledMapping =
  (name: string): Sabotage['strike'] =>
  async (target) => {
    const client = new LambdaClient({ ...clientOptions('quick'), ...placeOf(target) });
    const FunctionName = functionOf(target, name);
    const { EventSourceMappings = [] } = await client.send(new ListEventSourceMappingsCommand({}));
    // By the name of a function or of its alias.
    const own = EventSourceMappings.filter(({ FunctionArn = '' }) =>
      FunctionArn.split(':').includes(FunctionName),
    );
    if (own.length === 0) throw new Error(`${FunctionName} has no mapping.`);
    const set = (Enabled: boolean): Promise<unknown> =>
      Promise.all(own.map(({ UUID }) => client.send(new UpdateEventSourceMappingCommand({ UUID, Enabled }))));
    await set(false);
    return () => set(true);
  };

/** The stage of the API. It serves the last deployment. */
const stageName = 'api';

/** Changes the API and deploys the change to its stage. Cannot be repaired. */
const changedApi =
  (change: (client: APIGatewayClient, restApiId: string) => Promise<void>): Sabotage['strike'] =>
  async (target) => {
    const client = new APIGatewayClient({ ...clientOptions('quick'), ...placeOf(target) });
    const restApiId = idOf(target, 'AWS::ApiGateway::RestApi', 'Api');
    await change(client, restApiId);
    await client.send(new CreateDeploymentCommand({ restApiId, stageName }));
    return undefined;
  };

/** Denies actions to a function’s role. */
const refused =
  (role: string, action: string): Sabotage['strike'] =>
  (target) =>
    refuse(target.endpoint, target.region, idOf(target, 'AWS::IAM::Role', role), action);

async function setVisibility(target: Target, queue: string, VisibilityTimeout: string): Promise<void> {
  const client = new SQSClient({
    ...clientOptions('quick'),
    ...placeOf(target),
    useQueueUrlAsEndpoint: false,
  });
  const QueueUrl = idOf(target, 'AWS::SQS::Queue', queue);
  await client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: { VisibilityTimeout } }));
}

export const sabotages: readonly Sabotage[] = [
  {
    what: 'a function has lost its rights',
    check: 'group',
    strike: refused('UrlGroupsRole', '*'),
  },
  {
    what: 'deliveries must not invoke functions',
    check: 'function',
    strike: refused('DeliverLongRole', 'lambda:InvokeFunction'),
  },
  { what: 'the mapping of a queue is disabled', check: 'callback', strike: disabledMapping('DeliverLong') },
  {
    what: 'a function has the wrong master secret',
    check: 'regions',
    strike: changedVariables('Keys', { MASTER_SECRET_ID: 'Svc/management' }),
  },
  {
    what: 'a function has another table',
    check: 'dead-letter',
    strike: changedVariables('DlqApi', { DLQ_TABLE: 'nowhere' }),
  },
  {
    what: 'a worker has another table',
    check: 'retry',
    strike: changedVariables('DeliverShort', { MESSAGES_TABLE: 'nowhere' }),
  },
  {
    what: 'the schedule group is gone',
    check: 'far-delay',
    strike: changedVariables('Publish', { SCHEDULE_GROUP: 'gone' }),
  },
  {
    what: 'the table of lanes is gone',
    check: 'queue',
    strike: changedVariables('Publish', { LANES_TABLE: 'gone' }),
  },
  {
    what: 'the bucket refuses its functions',
    check: 'large-body',
    strike: async (target) => {
      const Bucket = idOf(target, 'AWS::S3::Bucket', 'Bodies');
      const client = new S3Client({ ...clientOptions('bodies'), ...placeOf(target), forcePathStyle: true });
      const policyOf = (Action: string): string =>
        JSON.stringify({
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Deny',
              Principal: '*',
              Action,
              Resource: `arn:aws:s3:::${Bucket}/*`,
            },
          ],
        });
      await client.send(new PutBucketPolicyCommand({ Bucket, Policy: policyOf('s3:*') }));
      return () => client.send(new PutBucketPolicyCommand({ Bucket, Policy: policyOf('s3:PutObjectAcl') }));
    },
  },
  {
    what: 'a queue was changed by hand',
    check: 'drift',
    strike: async (target) => {
      await setVisibility(target, 'QueuesLong', '30');
      return () => setVisibility(target, 'QueuesLong', visibilitySecondsOf('long').toString());
    },
  },
  {
    what: 'a role may not read a table',
    check: 'denied',
    strike: refused('UrlGroupsRole', 'dynamodb:Query'),
  },
  {
    what: 'rows of a table do not expire',
    check: 'data-settings',
    strike: async (target) => {
      const client = new DynamoDBClient({ ...clientOptions('quick'), ...placeOf(target) });
      const TableName = idOf(target, 'AWS::DynamoDB::GlobalTable', 'Messages');
      const set = (Enabled: boolean): Promise<unknown> =>
        client.send(
          new UpdateTimeToLiveCommand({
            TableName,
            TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled },
          }),
        );
      await set(false);
      return () => set(true);
    },
  },
  {
    what: 'a function knows another table of accounts',
    check: 'account-change',
    strike: changedVariables('Keys', { ACCOUNTS_TABLE: 'nowhere' }),
  },
  {
    what: 'the mapping of the short queue is disabled',
    check: 'burst',
    strike: disabledMapping('DeliverShort'),
  },
  {
    what: 'nothing is delivered to a slow host',
    check: 'slow-host',
    strike: disabledMapping('DeliverShort'),
  },
  {
    what: 'jobs of killed workers stay hidden',
    check: 'killed-worker',
    strike: async (target) => {
      await setVisibility(target, 'QueuesShort', '43200');
      // Cannot be repaired: the job that the check took stays hidden for twelve hours.
      return undefined;
    },
  },
  {
    what: 'the publish URL is gone',
    check: 'publish-url',
    strike: async (target) => {
      const client = new LambdaClient({ ...clientOptions('quick'), ...placeOf(target) });
      const FunctionName = functionOf(target, 'Publish');
      const Qualifier = (await aliasOf(client, FunctionName))?.Name;
      await client.send(new DeleteFunctionUrlConfigCommand({ FunctionName, Qualifier }));
      return undefined;
    },
  },
  {
    what: 'the gateway’s answer to too many requests is its own',
    check: 'gateway-answers',
    strike: changedApi(async (client, restApiId) => {
      await client.send(new DeleteGatewayResponseCommand({ restApiId, responseType: 'THROTTLED' }));
    }),
  },
  {
    what: 'a gateway response is gone',
    check: 'answers',
    strike: changedApi(async (client, restApiId) => {
      for (const responseType of [
        'MISSING_AUTHENTICATION_TOKEN',
        'RESOURCE_NOT_FOUND',
        'DEFAULT_4XX',
      ] as const)
        await client.send(new DeleteGatewayResponseCommand({ restApiId, responseType }));
    }),
  },
  {
    what: 'a route is gone',
    check: 'workflow',
    strike: changedApi(async (client, restApiId) => {
      for await (const { items = [] } of paginateGetResources({ client }, { restApiId })) {
        for (const { id, path } of items)
          if (path === '/v2/batch')
            await client.send(new DeleteResourceCommand({ restApiId, resourceId: id }));
      }
    }),
  },
];
