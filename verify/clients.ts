/** The clients of AWS that the checks use. */
import { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SchedulerClient } from '@aws-sdk/client-scheduler';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { STSClient } from '@aws-sdk/client-sts';
import type { MiddlewareStack } from '@smithy/types';
import { clientOptions } from '../lambdas/aws/clientOptions.ts';

/** The beginnings of the names of calls that change nothing. */
export const readingCalls = /^(Describe|Get|List|Validate)/;

interface Client<Input extends object, Output extends object> {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
}

/** Has a client refuse each call that could change something. */
function readOnly<Input extends object, Output extends object, C extends Client<Input, Output>>(
  client: C & Client<Input, Output>,
): C {
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        if (!readingCalls.test(commandName)) throw new Error(`${commandName} could change something.`);
        return next(args);
      },
    { name: 'readOnly', step: 'initialize' },
  );
  return client;
}

/** Makes the clients of a region that checks before a deployment use: they refuse to change anything. */
export const readersIn = (region: string) => ({
  apiGateway: readOnly(new APIGatewayClient({ ...clientOptions('quick'), region })),
  cloudFormation: readOnly(new CloudFormationClient({ ...clientOptions('quick'), region })),
  cloudWatch: readOnly(new CloudWatchClient({ ...clientOptions('quick'), region })),
  dynamodb: readOnly(new DynamoDBClient({ ...clientOptions('quick'), region })),
  lambda: readOnly(new LambdaClient({ ...clientOptions('quick'), region })),
  scheduler: readOnly(new SchedulerClient({ ...clientOptions('quick'), region })),
  secrets: readOnly(new SecretsManagerClient({ ...clientOptions('quick'), region })),
  sns: readOnly(new SNSClient({ ...clientOptions('quick'), region })),
  sqs: readOnly(new SQSClient({ ...clientOptions('quick'), region })),
  ssm: readOnly(new SSMClient({ ...clientOptions('quick'), region })),
  sts: readOnly(new STSClient({ ...clientOptions('quick'), region })),
});

export type Readers = ReturnType<typeof readersIn>;

/** Makes the clients of a region that checks of a deployment use. */
export const clientsIn = (region: string) => ({
  cloudFormation: new CloudFormationClient({ ...clientOptions('quick'), region }),
  cloudWatch: new CloudWatchClient({ ...clientOptions('quick'), region }),
  logs: new CloudWatchLogsClient({ ...clientOptions('quick'), region }),
  scheduler: new SchedulerClient({ ...clientOptions('quick'), region }),
  secrets: new SecretsManagerClient({ ...clientOptions('quick'), region }),
  sqs: new SQSClient({ ...clientOptions('quick'), region }),
  sts: new STSClient({ ...clientOptions('quick'), region }),
});

export type Clients = ReturnType<typeof clientsIn>;
