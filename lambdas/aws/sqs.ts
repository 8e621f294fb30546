/** The clients of SQS: one for this region's queues, and one for each other region that learns of changed accounts. */
import { SQSClient } from '@aws-sdk/client-sqs';
import { clientOptions } from './clientOptions.ts';
import { prepareClient } from './functionClient.ts';
import { settings } from './settings.ts';

/**
 * Makes a client for a region; for this one when absent. It uses its region's endpoint, because a queue's URL names AWS's own even
 * where an emulator answers.
 */
const open = (region?: string): SQSClient =>
  prepareClient(
    'Sqs',
    new SQSClient({
      ...clientOptions('quick'),
      useQueueUrlAsEndpoint: false,
      // TLS has protected the message on its way already.
      md5: false,
      ...(region !== undefined && { region }),
    }),
  );

export const sqs = open();

const elsewhere = new Map<string, SQSClient>();

/** The client of a region, for the few queues that other regions use. */
export function sqsIn(region: string): SQSClient {
  if (region === settings.region) return sqs;
  const known = elsewhere.get(region) ?? open(region);
  elsewhere.set(region, known);
  return known;
}
