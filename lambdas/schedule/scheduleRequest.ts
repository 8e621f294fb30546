import { ConfigReader } from '../request/dialect.ts';
import { configWithKnownCredentials, parsePublishOptions } from '../request/publishOptions.ts';
import { formatScheduleSettings, scheduleSettings } from './scheduleSettings.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { parseDestination } from '../destination/destination.ts';
import { withKnownCredentials } from '../shared/urlCredentials.ts';
import type { Header } from '../shared/headers.ts';
import { badField } from '../error/httpError.ts';
import { isTraceHeader, passedOn } from '../request/forwarding.ts';
import { parseName } from '../value/names.ts';
import { parseCron, type Cron } from './cron.ts';
import type { Schedule } from './schedule.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { prepare, withQuery, type Draft, type PublishRequest } from '../publish/prepare.ts';

export type ScheduleRequest = Omit<PublishRequest, 'queueName' | 'fire'>;

interface RequestedSchedule {
  readonly cron: Cron;
  /** The messages that it would publish now. */
  readonly drafts: readonly Draft[];
  readonly kept: Pick<
    Schedule,
    | 'cron'
    | 'destination'
    | 'otherQuery'
    | 'prefix'
    | 'config'
    | 'otherHeaders'
    | 'queueName'
    | 'view'
    | 'callerIp'
  >;
}

/**
 * Refuses a request that could not be published.
 *
 * @param before the schedule that is replaced
 * @throws HttpError 400, 403, 404, 412 or 413
 */
export async function readSchedule(
  account: Account,
  asked: ScheduleRequest,
  before: Schedule | undefined,
): Promise<RequestedSchedule> {
  // The trace of this request is over before messages are made.
  const request = { ...asked, otherHeaders: asked.otherHeaders.filter((header) => !isTraceHeader(header)) };
  const { prefix, config, callerIp } = request;
  const reader = new ConfigReader(prefix, config);
  const cron = readCron(reader);
  const queueName = reader.read('queue-name', parseName);
  const { drafts, deduplication } = await prepare(account, { ...request, queueName });
  if (deduplication?.by === 'debounce') {
    throw badField(`${reader.field('debounce')} is given; allowed is to publish with it, not to schedule.`);
  }
  const kept = {
    cron: cron.text,
    ...destinationOf(request, before?.destination),
    prefix,
    config: configWithKnownCredentials(config, before?.config),
    otherHeaders: headersToKeep(request),
    queueName,
    view: await settingsOf(account, { ...request, queueName }),
    callerIp,
  };
  return { cron, drafts, kept };
}

function readCron(reader: ConfigReader): Cron {
  const cron = reader.read('cron', parseCron);
  if (cron === undefined) {
    throw badField(`${reader.field('cron')} is missing; allowed is a cron expression such as "*/5 * * * *".`);
  }
  return cron;
}

async function settingsOf(account: Account, request: PublishRequest): Promise<string> {
  const time = now();
  const options = parsePublishOptions(request, account, await destinationRules(request.host, account), time);
  return formatScheduleSettings(scheduleSettings(options, time, request));
}

/**
 * Query parameters that are not the service's belong to the destination's URL. For a URL group they are kept
 * for its endpoints.
 *
 * @param before the destination of the schedule that is replaced
 */
function destinationOf(
  { destination, otherQuery }: ScheduleRequest,
  before: string | undefined,
): Pick<Schedule, 'destination' | 'otherQuery'> {
  const parsed = parseDestination(destination);
  if (parsed.kind === 'group') return { destination: parsed.name, otherQuery };
  return { destination: withKnownCredentials(withQuery(parsed.url, otherQuery), before), otherQuery: [] };
}

/**
 * Keeps headers that may be forwarded, never the token. For a URL group all are kept, because the group's
 * default headers decide at each fire.
 */
function headersToKeep({ prefix, config, destination, otherHeaders }: ScheduleRequest): readonly Header[] {
  const said = new ConfigReader(prefix, config).single('header-forward');
  const mayForward =
    said === undefined ? parseDestination(destination).kind === 'group' : /^true$/i.test(said);
  return mayForward ? passedOn(otherHeaders) : otherHeaders.filter(([name]) => name === 'content-type');
}
