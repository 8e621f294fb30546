/** Queues, topics and buses that tests make in a deployed service’s AWS account, and the messages that arrive there. */
import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { unique } from './api.ts';
import { eventually } from './eventually.ts';
import { service } from './service.ts';

/** A destination, and its messages so far. */
export interface AwsReceiver {
  readonly arn: string;
  readonly received: (count: number) => Promise<readonly Message[]>;
}

/** @throws Error if the service is not deployed */
export function openAwsReceivers() {
  if (service.deployment === undefined) throw new Error('Only a deployed service has an AWS account.');
  const options = {
    ...clientOptions('quick'),
    endpoint: service.deployment.awsUrl,
    region: service.region,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const sqs = new SQSClient({ ...options, useQueueUrlAsEndpoint: false });
  const sns = new SNSClient(options);
  const events = new EventBridgeClient(options);
  const secrets = new SecretsManagerClient(options);
  const nameOf = (kind: string): string => `receiver-${unique(kind)}`;

  async function queue(name = nameOf('queue')): Promise<AwsReceiver> {
    const Policy = JSON.stringify({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Principal: { Service: ['sns.amazonaws.com', 'events.amazonaws.com'] },
          Action: 'sqs:SendMessage',
          Resource: '*',
        },
      ],
    });
    const Attributes = { Policy, ...(name.endsWith('.fifo') && { FifoQueue: 'true' }) };
    const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: name, Attributes }));
    const { Attributes: { QueueArn = '' } = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    const all: Message[] = [];
    const receive = async (): Promise<readonly Message[]> => {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({
          QueueUrl,
          MaxNumberOfMessages: 10,
          MessageAttributeNames: ['All'],
          MessageSystemAttributeNames: ['All'],
        }),
      );
      all.push(...Messages);
      for (const { ReceiptHandle } of Messages)
        await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      return all;
    };
    return {
      arn: QueueArn,
      received: (count) => eventually(receive, (messages) => messages.length >= count),
    };
  }

  /** Makes a topic with a queue that gets the topic’s messages unchanged. */
  async function topic(): Promise<AwsReceiver> {
    const { arn: Endpoint, received } = await queue();
    const { TopicArn = '' } = await sns.send(new CreateTopicCommand({ Name: nameOf('topic') }));
    const Attributes = { RawMessageDelivery: 'true' };
    await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint, Attributes }));
    return { arn: TopicArn, received };
  }

  /** Makes a bus with a queue that gets the events of one source. */
  async function bus(source: string): Promise<AwsReceiver> {
    const { arn: Arn, received } = await queue();
    const EventBusName = nameOf('bus');
    const { EventBusArn = '' } = await events.send(new CreateEventBusCommand({ Name: EventBusName }));
    const EventPattern = JSON.stringify({ source: [source] });
    await events.send(new PutRuleCommand({ Name: 'all', EventBusName, EventPattern }));
    await events.send(new PutTargetsCommand({ Rule: 'all', EventBusName, Targets: [{ Id: 'queue', Arn }] }));
    return { arn: EventBusArn, received };
  }

  async function certificates(name: string, SecretString: string): Promise<void> {
    await secrets.send(new CreateSecretCommand({ Name: `Svc/tls/${name}`, SecretString }));
  }

  return {
    queue,
    topic,
    bus,
    certificates,
    close: (): void => {
      for (const client of [sqs, sns, events, secrets]) client.destroy();
    },
  };
}
