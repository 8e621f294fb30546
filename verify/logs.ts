import { type CloudWatchLogsClient, paginateFilterLogEvents } from '@aws-sdk/client-cloudwatch-logs';
import { allOf } from '../operate/awsCalls.ts';

/**
 * Reads the lines of a log that match a pattern.
 *
 * @param startTime Unix milliseconds
 */
export async function logLines(
  client: CloudWatchLogsClient,
  logGroupName: string,
  startTime: number,
  filterPattern: string,
): Promise<readonly string[]> {
  const input = { logGroupName, startTime, filterPattern };
  const events = await allOf(paginateFilterLogEvents({ client }, input), (page) => page.events);
  return events.map(({ message = '' }) => message);
}
