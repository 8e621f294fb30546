/** Acts and look-ups that several checks share. */
import { createHash } from 'node:crypto';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { expectThat, Shortfall } from '../check.ts';
import { until } from '../wait.ts';
import { type Client, publish, type Request, statesOf } from './api.ts';
import type { After } from './context.ts';

/** Characters of a URL that a gateway or proxy might decode, merge or encode again. */
export const strange = { path: '//a%2Fb', query: 'x=1&x=2+3' };

/**
 * Publishes a message to a new inbox, and waits for it.
 *
 * @param door the API or the publish URL
 * @param to makes the destination
 */
export async function deliver(
  { inbox }: After,
  door: Client,
  message: Request,
  to: (url: string) => string = (url) => url,
) {
  const one = inbox('ok');
  await publish(door, to(one.url), message);
  const [received] = await one.received(1);
  return received;
}

/** Checks that a body arrives byte for byte. */
export async function deliverBytes(
  after: After,
  door: Client,
  body: Buffer,
  contentType: string,
): Promise<string> {
  const headers = { 'content-type': contentType };
  const received = await deliver(after, door, { body: new Uint8Array(body), headers });
  expectThat(
    received?.sha256 === createHash('sha256').update(body).digest('hex') &&
      received.contentType === contentType,
    `${body.length} bytes of ${contentType} were sent, and ${String(received?.bytes)} others of ${String(received?.contentType)} arrived.`,
  );
  return `${body.length} bytes arrived as they were`;
}

/** Waits until a message whose answer takes `seconds` is delivered. @throws Shortfall if an attempt fails */
export async function delivered(
  { api, timeout }: Pick<After, 'api' | 'timeout'>,
  messageId: string,
  seconds: number,
): Promise<void> {
  await until(
    async () => {
      const states = await statesOf(api.client, messageId);
      if (states.some((state) => /^(FAILED|ERROR|RETRY)$/.test(state)))
        throw new Shortfall(`An attempt that takes ${seconds} s ended as ${states.join(', ')}.`);
      return states.includes('DELIVERED');
    },
    () => `An attempt that takes ${seconds} s has not ended.`,
    { ...timeout, everyMs: 5_000, waitMs: timeout.waitMs + seconds * 1_000 },
  );
}

export const shortQueue = /^QueuesShort[0-9A-F]{8}$/;

/** Finds a resource by its logical id. @throws Shortfall if there is none */
export function resourceOf({ resources }: Pick<After, 'resources'>, form: RegExp, what: string): string {
  const found = resources.find(({ logicalId }) => form.test(logicalId));
  if (found === undefined) throw new Shortfall(`The stack has no ${what}.`);
  return found.physicalId;
}

export async function isQuiet({ clients: { sqs } }: After, QueueUrl: string): Promise<boolean> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return Object.values(Attributes).every((count) => count === '0');
}
