/** The local stage: the real handlers, with stand-ins for AWS around them, in one process. */
import { SQSClient } from '@aws-sdk/client-sqs';
import { gatewayRoutes, type ApiFunction } from '../lambdas/http/routes.ts';
import { queues } from '../lambdas/resources.ts';
import { openDataDirectory } from './dataDirectory.ts';
import { credentials, isolate, setVariables } from './environment.ts';
import { startEventSource, type EventSource } from './eventSource.ts';
import { startGateway } from './gateway.ts';
import { loopback } from './http.ts';
import { loadFunction, type LambdaFunction } from './lambda.ts';
import { localAccount } from './localAccount.ts';
import type { Options } from './options.ts';
import { queueArn, type Sqs } from './sqs.ts';
import {
  environmentOf,
  startStandIns,
  type Endings,
  type StandInOptions,
  type StandIns,
} from './standIns.ts';
import { takeOverClock, type TestClock } from './testClock.ts';
import { startTestControl } from './testControl.ts';

export interface Stage {
  /** What a client needs, by variable: addresses and credentials. */
  readonly variables: Readonly<Record<string, string>>;
  /** Takes nothing new, finishes what is in flight within 10 s, and ends. */
  readonly stop: () => Promise<void>;
}

export type StageOptions = Options & StandInOptions;

const drainMs = 10_000;
const apiTimeoutMs = 29_000;

/** @throws StageError when something is in the way that the person at the keyboard can remove */
export async function startStage(options: StageOptions): Promise<Stage> {
  isolate();
  const endings: Endings = [];
  const stop = async (): Promise<void> => {
    for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
  };
  try {
    return { variables: await start(options, endings), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(options: StageOptions, endings: Endings): Promise<Record<string, string>> {
  const { report, region } = options;
  const testClock = options.testControl ? takeOverClock() : undefined;
  if (testClock !== undefined) endings.push(testClock.release);
  const functions = new Map<ApiFunction, LambdaFunction>();
  const loading = pending();
  const gateway = await startGateway({
    port: options.port,
    routes: gatewayRoutes,
    functions,
    ready: loading.promise,
    report,
  });
  endings.push(() => gateway.stop(AbortSignal.abort()));

  const data =
    options.dataDirectory === undefined ? undefined : await openDataDirectory(options.dataDirectory);
  if (data !== undefined) endings.push(data.release);
  const standIns = await startStandIns(options, data, endings);
  const ownHosts = [loopback, 'localhost', '[::1]'].map((host) => `${host}:${gateway.port}`);
  setVariables({
    ...environmentOf(region, standIns),
    ALLOWED_DESTINATIONS: options.allowedDestinations.join(','),
    OWN_HOSTS: ownHosts.join(','),
    PRICE_PER_MESSAGE: String(options.pricePerMessage),
  });

  for (const name of new Set(gatewayRoutes.map((route) => route.function))) {
    functions.set(name, await loadFunction(name, { region, timeoutMs: apiTimeoutMs }));
  }
  await standIns.tablesReady;
  const sources = await feed(options, standIns.sqs);
  endings.push(async () => {
    const signal = AbortSignal.timeout(drainMs);
    await Promise.all([gateway.stop(signal), ...sources.map((source) => source.stop(signal))]);
  });
  const testControlUrl =
    testClock === undefined ? undefined : await offerTestControl(testClock, options, standIns, endings);
  loading.resolve();
  await checkHealth(gateway.url);
  const management = { url: gateway.url, ...standIns.management };
  const account = await localAccount(management, region);

  const variables = {
    ...(testControlUrl !== undefined && { SVC_TEST_CONTROL_URL: testControlUrl }),
    SVC_URL: gateway.url,
    SVC_TOKEN: account.token,
    SVC_READ_ONLY_TOKEN: account.read_only_token,
    SVC_CURRENT_SIGNING_KEY: account.keys?.current ?? '',
    SVC_NEXT_SIGNING_KEY: account.keys?.next ?? '',
    SVC_MANAGEMENT_URL: management.url,
    SVC_MANAGEMENT_USER: management.username,
    SVC_MANAGEMENT_PASSWORD: management.password,
  };
  data?.write('env', toLines(variables));
  return variables;
}

interface QueueSettings {
  /** Nobody is handed the messages of a queue that has none. */
  readonly handler?: string | undefined;
  /** In seconds. */
  readonly functionTimeout?: number | undefined;
}

/** The queues whose messages are handed to a function, by name. */
const fedQueues = Object.entries<QueueSettings>(queues).flatMap(([name, { handler, functionTimeout }]) =>
  handler === undefined || functionTimeout === undefined ? [] : [{ name, handler, functionTimeout }],
);

/** Connects each queue with its function. */
async function feed({ region, report }: StageOptions, sqs: Sqs): Promise<EventSource[]> {
  const client = new SQSClient({ endpoint: sqs.url, region, credentials });
  return Promise.all(
    fedQueues.map(async ({ name, handler, functionTimeout }) =>
      startEventSource({
        client,
        queueUrl: sqs.queueUrl(name),
        queueArn: queueArn(region, name),
        region,
        function: await loadFunction(handler, { region, timeoutMs: functionTimeout * 1000 }),
        report,
      }),
    ),
  );
}

async function offerTestControl(
  clock: TestClock,
  { report }: StageOptions,
  { sqs, scheduler }: StandIns,
  endings: Endings,
): Promise<string> {
  const names = fedQueues.map(({ name }) => name);
  const control = await startTestControl({ clock, sqs, scheduler, fedQueues: names, report });
  endings.push(control.close);
  return control.url;
}

async function checkHealth(url: string): Promise<void> {
  const response = await fetch(`${url}/v2/health`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The stage is not healthy: ${response.status} ${text}`);
}

/** One `NAME=value` line each, as a shell reads them. */
export function toLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function pending(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}
