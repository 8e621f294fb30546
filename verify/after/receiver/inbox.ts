import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import * as z from 'zod';
import { logLines } from '../../logs.ts';
import { received, type Received } from './received.ts';
import { type Timeout, until } from '../../wait.ts';

const line = z.object({ received });

/** Parses a log line; undefined for Lambda's own lines. */
export function readLine(text: string): Received | undefined {
  const start = text.indexOf('{"received":');
  if (start < 0) return undefined;
  return line.parse(JSON.parse(text.slice(start))).received;
}

export interface Inbox {
  /** A destination. The rest of a URL after it arrives as `path`. */
  readonly url: string;
  /** Waits until `count` requests have arrived, and returns all in order of arrival. */
  readonly received: (count: number, timeout?: Partial<Timeout>) => Promise<readonly Received[]>;
}

/** How the receiver can answer. `wait-5` answers after five seconds. */
export type Answers = 'ok' | 'fail' | 'fail-first' | 'later' | 'flow' | `wait-${number}`;

/** The receiver's hosts. Each is a separate function, so one can be slow without affecting the other. */
export type ReceiverHost = 'quick' | 'slow';

interface Source {
  readonly read: () => Promise<readonly Received[]>;
  /** The URL of each host, without a slash at the end. */
  readonly urls: Readonly<Record<ReceiverHost, string>>;
  readonly timeout: Timeout;
}

/** Reads all requests that the receiver got since a moment, in order of arrival. */
export async function readLogs(
  client: CloudWatchLogsClient,
  logGroups: readonly string[],
  since: number,
): Promise<readonly Received[]> {
  const all: Received[] = [];
  for (const group of logGroups)
    all.push(...(await logLines(client, group, since, '"received"')).flatMap((line) => readLine(line) ?? []));
  return all.toSorted((one, other) => one.at - other.at);
}

/** Opens inboxes. They share reads of the log, because CloudWatch limits such calls to a few per second. */
export function openInboxes(source: Source) {
  let reading: Promise<readonly Received[]> | undefined;
  const read = (): Promise<readonly Received[]> =>
    (reading ??= source.read().finally(() => {
      reading = undefined;
    }));
  let names = 0;
  return (answers: Answers, host: ReceiverHost = 'quick'): Inbox => {
    const name = `i${(names += 1)}`;
    let last: readonly Received[] = [];
    return {
      url: `${source.urls[host]}/${name}/${answers}`,
      received: (count, timeout = {}) =>
        until(
          async () => {
            last = (await read()).filter(({ inbox }) => inbox === name);
            return last.length >= count ? last : undefined;
          },
          () => `The receiver got ${last.length} of ${count} requests.`,
          { ...source.timeout, ...timeout },
        ),
    };
  };
}
