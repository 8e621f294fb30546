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

/** The calls that create and delete a change set. They change no resources. */
export const changeSetCalls =
  /^(CreateChangeSet|DeleteChangeSet|DescribeChangeSet|DescribeEvents|DeleteStack|PutObject|DeleteObject)Command$/;

interface Client<Input extends object, Output extends object> {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
}

/** Makes a client refuse calls whose names don't match. */
function limitedTo<Input extends object, Output extends object, C extends Client<Input, Output>>(
  calls: RegExp,
  client: C & Client<Input, Output>,
): C {
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        if (!calls.test(commandName)) throw new Error(`${commandName} could change something.`);
        return next(args);
      },
    { name: 'limitedTo', step: 'initialize' },
  );
  return client;
}

/** Clients of a region for the checks before a deployment. They refuse to change anything. */
export const readersIn = (region: string) => ({
  acm: limitedTo(readingCalls, new ACMClient({ ...clientOptions('quick'), region })),
  apiGateway: limitedTo(readingCalls, new APIGatewayClient({ ...clientOptions('quick'), region })),
  cloudFormation: limitedTo(readingCalls, new CloudFormationClient({ ...clientOptions('quick'), region })),
  cloudWatch: limitedTo(readingCalls, new CloudWatchClient({ ...clientOptions('quick'), region })),
  dynamodb: limitedTo(readingCalls, new DynamoDBClient({ ...clientOptions('quick'), region })),
  ec2: limitedTo(readingCalls, new EC2Client({ ...clientOptions('quick'), region })),
  iam: limitedTo(readingCalls, new IAMClient({ ...clientOptions('quick'), region })),
  lambda: limitedTo(readingCalls, new LambdaClient({ ...clientOptions('quick'), region })),
  quotas: limitedTo(readingCalls, new ServiceQuotasClient({ ...clientOptions('quick'), region })),
  scheduler: limitedTo(readingCalls, new SchedulerClient({ ...clientOptions('quick'), region })),
  secrets: limitedTo(readingCalls, new SecretsManagerClient({ ...clientOptions('quick'), region })),
  sns: limitedTo(readingCalls, new SNSClient({ ...clientOptions('quick'), region })),
  sqs: limitedTo(readingCalls, new SQSClient({ ...clientOptions('quick'), region })),
  ssm: limitedTo(readingCalls, new SSMClient({ ...clientOptions('quick'), region })),
  sts: limitedTo(readingCalls, new STSClient({ ...clientOptions('quick'), region })),
});

/** Clients of a region for change sets. They refuse all other calls. */
export const changeSetClientsIn = (region: string) => ({
  cloudFormation: limitedTo(changeSetCalls, new CloudFormationClient({ ...clientOptions('quick'), region })),
  // The emulator has no separate host for each bucket.
  s3: limitedTo(
    changeSetCalls,
    new S3Client({
      ...clientOptions('bodies'),
      region,
      forcePathStyle: process.env['AWS_ENDPOINT_URL'] !== undefined,
    }),
  ),
});

export type ChangeSetClients = ReturnType<typeof changeSetClientsIn>;

export type Readers = ReturnType<typeof readersIn>;

/** Clients of a region for the checks of a deployment. */
export const clientsIn = (region: string) => ({
  apiGateway: new APIGatewayClient({ ...clientOptions('quick'), region }),
  cloudFormation: new CloudFormationClient({ ...clientOptions('quick'), region }),
  cloudTrail: new CloudTrailClient({ ...clientOptions('quick'), region }),
  cloudWatch: new CloudWatchClient({ ...clientOptions('quick'), region }),
  dynamodb: new DynamoDBClient({ ...clientOptions('quick'), region }),
  ec2: new EC2Client({ ...clientOptions('quick'), region }),
  lambda: new LambdaClient({ ...clientOptions('quick'), region }),
  logs: new CloudWatchLogsClient({ ...clientOptions('quick'), region }),
  scheduler: new SchedulerClient({ ...clientOptions('quick'), region }),
  secrets: new SecretsManagerClient({ ...clientOptions('quick'), region }),
  sqs: new SQSClient({ ...clientOptions('quick'), region }),
  sts: new STSClient({ ...clientOptions('quick'), region }),
});

export type Clients = ReturnType<typeof clientsIn>;
