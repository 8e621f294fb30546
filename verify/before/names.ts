/** The names of resources in the templates that must be unique in an AWS account's region. */
import { GetDomainNameCommand } from '@aws-sdk/client-api-gateway';
import { DescribeAlarmsCommand, GetDashboardCommand } from '@aws-sdk/client-cloudwatch';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { GetScheduleGroupCommand } from '@aws-sdk/client-scheduler';
import { DescribeSecretCommand } from '@aws-sdk/client-secrets-manager';
import { GetTopicAttributesCommand } from '@aws-sdk/client-sns';
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { ifThere } from '../../operate/awsCalls.ts';
import type { Clients } from '../clients.ts';
import type { StackTemplate } from '../deployment.ts';

export interface Named {
  readonly type: string;
  readonly name: string;
  readonly logicalId: string;
}

interface NamedType {
  readonly property: string;
  /** Reads a resource by name. It throws or returns false if there is no such resource. */
  readonly read: (readers: Clients, name: string) => Promise<unknown>;
}

/** The types with unique names: CloudFormation refuses to create a second one. */
export const namedTypes: Readonly<Record<string, NamedType>> = {
  'AWS::ApiGateway::DomainName': {
    property: 'DomainName',
    read: ({ apiGateway }, domainName) => apiGateway.send(new GetDomainNameCommand({ domainName })),
  },
  'AWS::CloudWatch::Alarm': {
    property: 'AlarmName',
    read: async ({ cloudWatch }, name) => {
      const { MetricAlarms = [] } = await cloudWatch.send(new DescribeAlarmsCommand({ AlarmNames: [name] }));
      return MetricAlarms.length > 0;
    },
  },
  'AWS::CloudWatch::Dashboard': {
    property: 'DashboardName',
    read: ({ cloudWatch }, DashboardName) => cloudWatch.send(new GetDashboardCommand({ DashboardName })),
  },
  'AWS::DynamoDB::GlobalTable': {
    property: 'TableName',
    read: ({ dynamodb }, TableName) => dynamodb.send(new DescribeTableCommand({ TableName })),
  },
  'AWS::SNS::Topic': {
    property: 'TopicName',
    read: async ({ sns, sts }, name) => {
      const { Account = '', Arn = '' } = await sts.send(new GetCallerIdentityCommand({}));
      const partition = Arn.split(':')[1] ?? 'aws';
      const region = await sns.config.region();
      const TopicArn = `arn:${partition}:sns:${region}:${Account}:${name}`;
      return sns.send(new GetTopicAttributesCommand({ TopicArn }));
    },
  },
  'AWS::SQS::Queue': {
    property: 'QueueName',
    read: ({ sqs }, QueueName) => sqs.send(new GetQueueUrlCommand({ QueueName })),
  },
  'AWS::Scheduler::ScheduleGroup': {
    property: 'Name',
    read: ({ scheduler }, Name) => scheduler.send(new GetScheduleGroupCommand({ Name })),
  },
  'AWS::SecretsManager::Secret': {
    property: 'Name',
    // A secret that waits for its deletion still has its name, and can be described.
    read: ({ secrets }, SecretId) => secrets.send(new DescribeSecretCommand({ SecretId })),
  },
};

const absent = /^[\w.]*(NotFound|NonExistentQueue|QueueDoesNotExist)/;

export async function isTaken(readers: Clients, { type, name }: Named): Promise<boolean> {
  const found = await ifThere(namedTypes[type]?.read(readers, name) ?? Promise.resolve(false), absent);
  return found !== undefined && found !== false;
}

export const namesIn = ({ resources }: StackTemplate): readonly Named[] =>
  Object.entries(resources).flatMap(([logicalId, { Type, Properties }]) => {
    const name = Properties[namedTypes[Type]?.property ?? ''];
    return typeof name === 'string' ? [{ type: Type, name, logicalId }] : [];
  });
