/** The clients of SQS: one for this region's queues, and one for each other region that is told of changed accounts. */
import { SQSClient } from '@aws-sdk/client-sqs';
import { clientOptions } from './clientOptions.ts';
import { prepareClient } from './functionClient.ts';
import { settings } from './settings.ts';

/**
 * Makes a client: of a region, or of this one. It takes its region's endpoint, because a queue's URL names AWS's own even where an
 * emulator plays it.
 */
const open = (region?: string): SQSClient =>
  prepareClient(
    'Sqs',
    new SQSClient({
      ...clientOptions('quick'),
      useQueueUrlAsEndpoint: false,
      // TLS has checked already that the message is as it was sent.
      md5: false,
      ...(region !== undefined && { region }),
    }),
  );

export const sqs = open();

const elsewhere = new Map<string, SQSClient>();

/** The client of a region, for the few queues that are reached from others. */
export function sqsIn(region: string): SQSClient {
  if (region === settings.region) return sqs;
  const known = elsewhere.get(region) ?? open(region);
  elsewhere.set(region, known);
  return known;
}
