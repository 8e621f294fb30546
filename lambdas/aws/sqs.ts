import { SQSClient } from '@aws-sdk/client-sqs';
import { clientOptions } from './clientOptions.ts';
import { prepareClient } from './functionClient.ts';
import { settings } from './settings.ts';

/**
 * Makes a client for a region, by default this one. It uses its configured endpoint, because a queue's URL
 * has AWS's host even with an emulator.
 */
const open = (region?: string): SQSClient =>
  prepareClient(
    'Sqs',
    new SQSClient({
      ...clientOptions('quick'),
      useQueueUrlAsEndpoint: false,
      // No checksums: TLS already protects messages.
      md5: false,
      ...(region !== undefined && { region }),
    }),
  );

export const sqs = open();

const elsewhere = new Map<string, SQSClient>();

/** A client for the few queues that other regions use. */
export function sqsIn(region: string): SQSClient {
  if (region === settings.region) return sqs;
  const known = elsewhere.get(region) ?? open(region);
  elsewhere.set(region, known);
  return known;
}
