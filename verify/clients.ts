import { ACMClient } from '@aws-sdk/client-acm';
import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudTrailClient } from '@aws-sdk/client-cloudtrail';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EC2Client } from '@aws-sdk/client-ec2';
import { IAMClient } from '@aws-sdk/client-iam';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { STSClient } from '@aws-sdk/client-sts';
import type { MiddlewareStack } from '@smithy/types';
import { clientOptions } from '../lambdas/aws/clientOptions.ts';

/** The prefixes of calls that change nothing. */
export const readingCalls = /^(Describe|Get|List|Simulate)/;

export const changeSetCalls =
  /^(CreateChangeSet|DeleteChangeSet|DescribeChangeSet|DescribeEvents|DeleteStack|PutObject|DeleteObject)Command$/;

export const clientsIn = (region: string) => ({
  acm: new ACMClient({ ...clientOptions('quick'), region }),
  apiGateway: new APIGatewayClient({ ...clientOptions('quick'), region }),
  cloudFormation: new CloudFormationClient({ ...clientOptions('quick'), region }),
  cloudTrail: new CloudTrailClient({ ...clientOptions('quick'), region }),
  cloudWatch: new CloudWatchClient({ ...clientOptions('quick'), region }),
  dynamodb: new DynamoDBClient({ ...clientOptions('quick'), region }),
  ec2: new EC2Client({ ...clientOptions('quick'), region }),
  iam: new IAMClient({ ...clientOptions('quick'), region }),
  lambda: new LambdaClient({ ...clientOptions('quick'), region }),
  logs: new CloudWatchLogsClient({ ...clientOptions('quick'), region }),
  quotas: new ServiceQuotasClient({ ...clientOptions('quick'), region }),
  // The emulator has no separate host for each bucket.
  s3: new S3Client({
    ...clientOptions('bodies'),
    region,
    forcePathStyle: process.env['AWS_ENDPOINT_URL'] !== undefined,
  }),
  scheduler: new SchedulerClient({ ...clientOptions('quick'), region }),
  secrets: new SecretsManagerClient({ ...clientOptions('quick'), region }),
  sns: new SNSClient({ ...clientOptions('quick'), region }),
  sqs: new SQSClient({ ...clientOptions('quick'), region }),
  ssm: new SSMClient({ ...clientOptions('quick'), region }),
  sts: new STSClient({ ...clientOptions('quick'), region }),
});

export type Clients = ReturnType<typeof clientsIn>;

function limitedTo(calls: RegExp, clients: Clients): Clients {
  const all: readonly { readonly middlewareStack: Pick<MiddlewareStack<object, object>, 'add'> }[] =
    Object.values(clients);
  for (const { middlewareStack } of all)
    middlewareStack.add(
      (next, { commandName = '' }) =>
        (args) => {
          if (!calls.test(commandName)) throw new Error(`${commandName} could change something.`);
          return next(args);
        },
      { name: 'limitedTo', step: 'initialize' },
    );
  return clients;
}

/** Clients of a region for the checks before a deployment. They refuse to change anything. */
export const readersIn = (region: string): Clients => limitedTo(readingCalls, clientsIn(region));

export const changeSetClientsIn = (region: string): Clients => limitedTo(changeSetCalls, clientsIn(region));
