import { badField, quote, badRequest } from '../error/httpError.ts';
import { changesBetween, type Changes, type Values } from '../audit/changes.ts';
import type { Account } from '../account/account.ts';
import { badDestination, parseAddress, refuseDestination } from '../destination/destination.ts';
import { destinationRules } from '../destination/rulesOfDeployment.ts';
import { isOwnHeader } from '../request/forwarding.ts';
import { readHeaders, type Header } from '../shared/headers.ts';
import { parseShape } from '../shared/json.ts';
import { hidden, shownWebhook, withKnownCredentials } from '../shared/urlCredentials.ts';
import { zoneName } from '../value/wallClock.ts';
import { alarmKinds } from '../wire/alarms.ts';
import { watchedBy, type AlarmSettings, type QuietHours } from './alarm.ts';
import { alarmSettings, allowedAt } from './shape.ts';

export interface AlarmsRequest {
  readonly body: Uint8Array;
  /** The service's host that the request was sent to. */
  readonly host: string;
  readonly callerIp: string;
}

/**
 * The most characters of the URL, and bytes of the headers. The row has at most 400 KB and is read at each
 * check.
 */
const longestUrl = 2_048;
const largestHeaders = 4_096;

/**
 * Reads the settings in a request.
 *
 * @param before the settings that are replaced; a URL that is sent as it was shown keeps its credentials
 * @throws HttpError 400 or 403
 */
export async function readSettings(
  account: Account,
  { body, host }: AlarmsRequest,
  before: AlarmSettings | undefined,
): Promise<AlarmSettings> {
  const given = parseShape('The body', body, alarmSettings, allowedAt);
  const url = withKnownCredentials(parseAddress('url', given.url.trim()), before?.url);
  if (url.length > longestUrl)
    throw badDestination(`url has ${url.length} characters; allowed are ${longestUrl}.`);
  refuseDestination('url', url, await destinationRules(host, account));
  const { format, routingKey } = given;
  if (format === 'pagerduty' && routingKey === undefined)
    throw badField('routingKey is missing; the format pagerduty takes 32 letters and digits.');
  if (format !== 'pagerduty' && routingKey !== undefined)
    throw badField(`routingKey is given; the format ${format} takes none.`);
  const settings = {
    ...given,
    url,
    headers: headersOf(given.headers ?? []),
    quietHours: given.quietHours && quietHoursOf(given.quietHours),
  };
  if (watchedBy(settings).size === 0)
    throw badRequest(
      'body_invalid',
      `The body has no alarm; allowed are one or more of ${alarmKinds.join(', ')}.`,
    );
  return settings;
}

function headersOf(given: readonly Header[]): readonly Header[] {
  const headers = readHeaders('headers', given);
  const own = headers.find(([name]) => isOwnHeader(name));
  if (own !== undefined) throw badField(`headers.${own[0]} is set by the service, and cannot be given.`);
  const size = headers.flat().join('').length;
  if (size > largestHeaders) throw badField(`headers have ${size} bytes; allowed are ${largestHeaders}.`);
  return headers;
}

function quietHoursOf({ from, to, timezone }: QuietHours): QuietHours {
  const zone = zoneName(timezone);
  if (zone === undefined) {
    throw badField(
      `quietHours.timezone is ${quote(timezone)}; allowed is ${allowedAt('quietHours.timezone')}.`,
    );
  }
  if (from === to)
    throw badField(`quietHours.to is ${quote(to)}; allowed is another time than quietHours.from.`);
  return { from, to, timezone: zone };
}

const valuesOf = ({ headers, ...settings }: AlarmSettings): Values => ({
  ...settings,
  ...Object.fromEntries(
    headers.map(([name]) => [
      `headers.${name}`,
      headers.filter(([other]) => other === name).map(([, value]) => value),
    ]),
  ),
});

/** Hides secrets: a webhook's URL, the routing key and the values of headers. */
const shownInTrail = (field: string, text: string): string =>
  field === 'url'
    ? shownWebhook(text)
    : field === 'routingKey' || field.startsWith('headers.')
      ? hidden
      : text;

export const settingChanges = (
  before: AlarmSettings | undefined,
  after: AlarmSettings | undefined,
): Changes => changesBetween(before && valuesOf(before), after && valuesOf(after), shownInTrail);
