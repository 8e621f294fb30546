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

/** A request for a schedule: a publish that says when, with a cron expression. */
export type ScheduleRequest = Omit<PublishRequest, 'queueName' | 'fire'>;

/** A request for a schedule, as it was read. */
interface RequestedSchedule {
  readonly cron: Cron;
  /** The messages that it would publish now. */
  readonly drafts: readonly Draft[];
  /** The fields of the schedule that follow from the request. */
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
 * Reads a request for a schedule. A request that could not be published is refused.
 *
 * @param before the schedule that is replaced
 * @throws HttpError 400, 403, 404, 412 or 413
 */
export async function readSchedule(
  account: Account,
  asked: ScheduleRequest,
  before: Schedule | undefined,
): Promise<RequestedSchedule> {
  // The messages to come belong to no trace: that of this request is over by then.
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

/** The settings of a request, as the schedule's row keeps them. */
async function settingsOf(account: Account, request: PublishRequest): Promise<string> {
  const time = now();
  const options = parsePublishOptions(request, account, await destinationRules(request.host, account), time);
  return formatScheduleSettings(scheduleSettings(options, time, request));
}

/**
 * The destination to which a schedule publishes. Query parameters that are not the service's belong to a URL; a group's are
 * kept, and go to its endpoints.
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
 * The request's headers that a schedule keeps: those that may be forwarded, never the token. A URL group may say in its
 * default headers that they are forwarded, and what it says counts at each fire: so for a group they are kept in any case.
 */
function headersToKeep({ prefix, config, destination, otherHeaders }: ScheduleRequest): readonly Header[] {
  const said = new ConfigReader(prefix, config).single('header-forward');
  const mayForward =
    said === undefined ? parseDestination(destination).kind === 'group' : /^true$/i.test(said);
  return mayForward ? passedOn(otherHeaders) : otherHeaders.filter(([name]) => name === 'content-type');
}
