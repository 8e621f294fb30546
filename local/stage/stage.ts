/** The local stage: the real handlers and the stand-ins for AWS, in one process. */
import { setTimeout } from 'node:timers/promises';
import { gatewayRoutes, type ApiFunction } from '../../lambdas/http/routes.ts';
import {
  aloneConcurrency,
  apiFunctionTimeoutSeconds,
  deliveryConcurrency,
  functionSecondsOf,
  longestTimeoutSeconds,
  queueNames,
  queues,
} from '../../lambdas/aws/resources.ts';
import { startControl } from '../backup/control.ts';
import { Disk, diskSentence } from '../disk/disk.ts';
import { pausedSentence, readiness } from '../disk/readiness.ts';
import type { Guard } from '../http.ts';
import { isOpen, ownHosts } from '../network/network.ts';
import { guardDevMode } from './devGuard.ts';
import { giveDevCredentials } from './devMode.ts';
import { checkStrength, joinDataDirectory, openDataDirectory } from './dataDirectory.ts';
import { consoleFunction } from '../lambda/console.ts';
import { developersSqs, isolate, setVariables } from '../lambda/environment.ts';
import { startEventSource, type EventSource, type EventSourceOptions } from '../lambda/eventSource.ts';
import { startFunctionUrl } from '../functionUrl/functionUrl.ts';
import { startGateway } from '../gateway/gateway.ts';
import type { AccountOf } from '../gateway/intake.ts';
import type { QueueFunction } from '../lambda/handlers.ts';
import { loadFunction, type LambdaFunction } from '../lambda/lambda.ts';
import { withOwnProcess } from '../lambda/ownProcess.ts';
import { loadTimed, startTimers, type Timed } from '../lambda/timer.ts';
import { inTurns } from '../lambda/turns.ts';
import { pending } from '../pending.ts';
import { leaderOf } from './leader.ts';
import { reachableDestinations } from './localAccount.ts';
import type { Options } from './options.ts';
import { wholeShare, type Share } from './share.ts';
import { StageError } from './stageError.ts';
import type { Fire } from '../scheduler/storedSchedules.ts';
import type { Queues } from '../sqs/queues.ts';
import { redrive, redriveAtStart, type ParkedJobs } from '../sqs/redrive.ts';
import type { Owner } from '../sqs/storedMessages.ts';
import { noteKill } from '../store/openStore.ts';
import {
  environmentOf,
  handOverCalls,
  startStandIns,
  type Endings,
  type StandInOptions,
} from './standIns.ts';
import { startTestControl } from './testControl.ts';
import { firstVariables, toLines } from './variables.ts';

export interface Stage {
  readonly url: string;
  /** Empty if another process started the stage. */
  readonly variables: Readonly<Record<string, string>>;
  /** Begins and ends the work that one process does for the whole stage. */
  readonly lead: () => Promise<void>;
  readonly resign: () => Promise<void>;
  /**
   * Takes over the messages of ended processes.
   *
   * @param isAfterKill whether one of them was killed
   */
  readonly adopt: (owners: readonly Owner[], isAfterKill: boolean) => Promise<void>;
  readonly planned: (fire: Fire) => void;
  /** Looks for fires that an ended process may not have reported. */
  readonly readAgain: () => Promise<void>;
  readonly inside: readonly string[];
  /** Adds the hosts of other processes, which are refused as destinations. */
  readonly addPeers: (hosts: readonly string[]) => Promise<void>;
  readonly redrive: () => Promise<ParkedJobs>;
  /** Announces that other processes continue. Then `stop` gives clients time to use other connections. */
  readonly replace: () => void;
  /**
   * Stops: finishes attempts in flight within 10 s, and then, without new requests, the requests in flight
   * within 10 s.
   */
  readonly stop: () => Promise<void>;
}

type StageOptions = Options &
  StandInOptions & {
    /** By default, functions are loaded into this process. Tests use other processes, which they can kill. */
    readonly loadFunction?: typeof loadFunction;
    /** By default all of the work. */
    readonly share?: Share;
  };

/** When the stage stops, attempts in flight get this time, and then requests. */
const drainMs = 10_000;

const turnAwayMs = 5_000;

/** Enough to continue while some wait for the disk, but few compared with the deliveries in flight. */
const publishesAtOnce = 12;

/** @throws StageError if the developer can fix the cause: a wrong flag, a port in use, an incomplete store */
export async function startStage(options: StageOptions): Promise<Stage> {
  isolate();
  const endings: Endings = [];
  const stop = async (): Promise<void> => {
    for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
  };
  try {
    return { ...(await start(options, endings)), stop };
  } catch (error) {
    await stop();
    const { dataDirectory } = options;
    const sentence = dataDirectory === undefined ? undefined : diskSentence(error, dataDirectory);
    throw sentence === undefined ? error : new StageError(sentence, { cause: error });
  }
}

/**
 * Starts the parts in this order: the gateway and the publish URL, because handlers need their ports; the
 * data directory and the stand-ins; the handlers; the developer's account; and the event sources and timers.
 */
async function start(options: StageOptions, endings: Endings): Promise<Omit<Stage, 'stop'>> {
  const { region, network, isPaused, loadFunction: load = loadFunction } = options;
  const disk = diskOf(options);
  const { report } = disk ?? options;
  if (disk !== undefined) {
    endings.push(() => {
      disk.close();
    });
  }
  const ready = readiness(() => disk, isPaused);
  if (options.dev) giveDevCredentials();
  const functions = new Map<ApiFunction, LambdaFunction>();
  const loading = pending();
  const guard: Guard = options.dev ? (listener) => guardDevMode(ready.guard(listener)) : ready.guard;
  // Loaded at the first request. Requests wait until the functions are loaded, so the settings that this
  // reads are set.
  const accountOf: AccountOf = async (headers, query) =>
    (await import('../../lambdas/http/caller.ts')).accountOf(headers, query);
  const { dataDirectory, share = wholeShare } = options;
  const isFed = share.ports !== undefined;
  const { api: port, publish: publishPort } = share.ports ?? {
    api: options.port,
    publish: options.publishPort,
  };
  const front = { network, guard, report, accountOf, isFed, ready: loading.promise };
  const gateway = await startGateway({ ...front, port, routes: gatewayRoutes, functions });
  endings.push(() => gateway.stop(AbortSignal.abort()));
  const publishUrl =
    publishPort === undefined
      ? undefined
      : await startFunctionUrl({ ...front, port: publishPort, called: () => functions.get('publish') });
  if (publishUrl !== undefined) endings.push(() => publishUrl.stop(AbortSignal.abort()));
  share.onFronts?.((name, socket) => {
    (name === 'publish' ? publishUrl : gateway)?.take(socket);
  });
  const servers = publishUrl === undefined ? [gateway] : [gateway, publishUrl];

  const open = options.share === undefined ? openDataDirectory : joinDataDirectory;
  const data = dataDirectory === undefined ? undefined : await open(dataDirectory);
  if (data !== undefined) endings.push(data.release);
  const standIns = await startStandIns({ ...options, report }, data, endings, share);
  const { announce } = options;
  const redriveAll = isPaused
    ? () => Promise.reject(new StageError(pausedSentence))
    : (share.redriveAll ?? redrive);
  const control = data && (await startControl({ data, redriveAll, report, announce }));
  if (control !== undefined) endings.push(control.close);
  if (isOpen(network)) checkStrength(standIns.secrets);
  handOverCalls(standIns);
  const publicUrl = network.publicUrl ?? gateway.url;
  const own = ownHosts(
    network,
    servers.map(({ port }) => port),
  );
  const urls = [...Object.values(standIns.urls), ...(control === undefined ? [] : [control.url])];
  const inside = urls.map((url) => new URL(url).host);
  setVariables({
    ...environmentOf(region, standIns),
    ALLOWED_DESTINATIONS: options.allowedDestinations.join(','),
    ...(options.outboundProxies !== undefined && { OUTBOUND_PROXIES: options.outboundProxies }),
    DESTINATIONS: reachableDestinations().join(','),
    ...(developersSqs !== '' && { DESTINATION_SQS_URL: developersSqs }),
    OWN_HOSTS: [...own, ...inside, ...(share.peers ?? [])].join(','),
    API_URL: publicUrl,
    // Hosts are not learned from requests, because clients can name any host.
    LEARN_HOSTS: 'false',
    LONGEST_TIMEOUT: String(longestTimeoutOf(options)),
    CONSOLE_APIS: 'messaging management',
    PRICE_PER_MESSAGE: String(options.pricePerMessage),
  });

  for (const name of new Set(gatewayRoutes.map((route) => route.function))) {
    const limits = { region, timeoutMs: apiFunctionTimeoutSeconds * 1000 };
    const loaded = name === 'console' ? consoleFunction(limits) : await load(name, limits);
    functions.set(name, name === 'publish' ? inTurns(loaded, publishesAtOnce) : loaded);
  }
  const { sqs, scheduler, expire, store } = standIns;
  const testControl = await startTestControl({
    queues: sqs.queues,
    scheduler,
    fedQueues: fedQueues.map(({ name }) => name),
    expireNow: () => expire(() => Promise.resolve()),
    written: () => store.committed(),
    report,
  });
  if (testControl !== undefined) endings.push(testControl.close);
  const [fed, timed] = isPaused ? [[], []] : await Promise.all([loadFed(options), loadTimed(region, load)]);
  loading.resolve();
  const variables: Record<string, string> = {};
  if (share.isFirst) {
    const addresses = { publicUrl, url: gateway.url, region, isPaused };
    Object.assign(variables, await firstVariables(standIns.management, addresses));
    if (testControl !== undefined) variables['SVC_TEST_CONTROL_URL'] = testControl.url;
    if (publishUrl !== undefined) variables['SVC_PUBLISH_URL'] = publishUrl.url;
    data?.write('env', toLines(variables));
  }
  // The event sources start last. Otherwise old messages would delay the start, and their deliveries would
  // have to be stopped if the start fails.
  const running = { ...options, report };
  const sources = feed(fed, running, sqs.queues, testControl?.leave);
  // Before the timers start, because one of them receives parked jobs and so hides them.
  if (!isPaused) await redriveAtStart(sqs.queues).catch(report);
  const isForAll = ({ name }: Timed): boolean => name !== 'redrive';
  const clocks = startTimers(
    timed.filter((one) => !isForAll(one)),
    report,
  );
  const leader = leaderOf({ standIns, timed: timed.filter(isForAll), control, isPaused, report });
  if (share.isFirst) await leader.start(true);
  let isReplaced = false;
  endings.push(async () => {
    const stop = (parts: readonly Pick<EventSource, 'stop'>[]): Promise<unknown> => {
      const signal = AbortSignal.timeout(drainMs);
      return Promise.all(parts.map((part) => part.stop(signal)));
    };
    // Requests are answered until the attempts in flight have ended. New messages are delivered after the
    // next start.
    const turnedAway = isReplaced ? Promise.all(servers.map((server) => server.turnAway())) : undefined;
    await stop([leader, ...sources, ...clocks]);
    if (turnedAway !== undefined) await Promise.race([turnedAway, setTimeout(turnAwayMs)]);
    await stop(servers);
  });
  ready.state = 'started';
  endings.push(() => {
    if (!isReplaced) ready.state = 'ending';
  });
  return {
    url: publicUrl,
    variables,
    lead: () => leader.start(false),
    resign: () => leader.stop(AbortSignal.timeout(drainMs)),
    adopt: async (owners, isAfterKill) => {
      for (const owner of owners) sqs.queues.adopt(owner);
      if (isAfterKill) await noteKill(store, Date.now());
    },
    planned: scheduler.planned,
    readAgain: scheduler.readAgain,
    inside,
    addPeers: async (hosts) => {
      (await import('../../lambdas/destination/rulesOfDeployment.ts')).addOwnHosts(hosts);
    },
    redrive,
    replace: () => {
      isReplaced = true;
    },
  };
}

/** Watches the disk of the data directory; undefined if no data is kept. */
function diskOf({ dataDirectory, announce, report }: StageOptions): Disk | undefined {
  return dataDirectory === undefined ? undefined : new Disk({ folder: dataDirectory, announce, report });
}

const longestTimeoutOf = ({ longDelivery }: StageOptions): number =>
  longestTimeoutSeconds[longDelivery ?? 'machine'];

interface QueueSettings {
  /** Undefined if no function reads the queue. */
  readonly handler?: QueueFunction | undefined;
  readonly batchSize: number;
}

const fedQueues = queueNames.flatMap((name) => {
  const { handler, batchSize }: QueueSettings = queues[name];
  return handler === undefined ? [] : [{ name, handler, batchSize }];
});

/** The maximum concurrency of event sources. Default: Lambda's maximum. */
const concurrency: Partial<Record<QueueFunction, number>> = {
  deliver: deliveryConcurrency,
  deliverAlone: aloneConcurrency,
};

/**
 * The most concurrent invocations of the long queue. Each may wait for hours, and needs a connection and
 * memory for a body.
 */
const waitingAtOnce = 10_000;

/** Each may run in a separate process of about 100 MB. */
const suspectsAtOnce = 4;

type Fed = (typeof fedQueues)[number] & { readonly function: LambdaFunction };

function loadFed(options: StageOptions): Promise<readonly Fed[]> {
  const { region, loadFunction: load = loadFunction } = options;
  const longest = longestTimeoutOf(options);
  return Promise.all(
    fedQueues.map(async (queue) => {
      const timeoutMs = functionSecondsOf(queue.name, longest) * 1000;
      const limits = { region, timeoutMs };
      const loaded = await load(queue.handler, limits);
      const isApart = queue.batchSize === 1 && load === loadFunction;
      return { ...queue, function: isApart ? withOwnProcess(queue.handler, limits, loaded) : loaded };
    }),
  );
}

function feed(
  fed: readonly Fed[],
  { region, report, longDelivery }: StageOptions,
  queues: Queues,
  onLeft: EventSourceOptions['onLeft'],
): EventSource[] {
  return fed.map(({ name, handler, batchSize, function: invoked }) =>
    startEventSource({
      queues,
      queue: name,
      region,
      function: invoked,
      maximumConcurrency: concurrency[handler],
      ...(name === 'long' && longDelivery === undefined && { mostAtOnce: waitingAtOnce }),
      ...(name === 'dead' && { mostAtOnce: suspectsAtOnce }),
      batchSize,
      report,
      ...(onLeft !== undefined && { onLeft }),
    }),
  );
}
