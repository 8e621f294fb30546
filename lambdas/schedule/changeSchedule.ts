import { canonicalize, ConfigReader } from '../request/dialect.ts';
import { scheduleChange } from '../wire/requests.ts';
import type { Account } from '../account/account.ts';
import { configOverDefaults } from '../shared/config.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { readHeaders } from '../shared/headers.ts';
import { badField } from '../error/httpError.ts';
import { parseShape } from '../shared/json.ts';
import { settings } from '../aws/settings.ts';
import { bodyOf, noSuchSchedule } from './wholeSchedule.ts';
import { save, type Saved } from './saveSchedule.ts';

interface ChangeRequest {
  /** JSON: see `scheduleChange`. */
  readonly body: Uint8Array;
  readonly host: string;
}

/**
 * Changes a schedule. Settings that the request does not name stay the same, even hidden ones, such as a
 * redacted body.
 *
 * @throws HttpError 400, 403, 404, 412 or 503
 */
export async function changeSchedule(
  account: Account,
  scheduleId: string,
  { body, host }: ChangeRequest,
): Promise<Saved> {
  const allowed =
    '{"destination": "<URL or group>", "body": "<text>", "headers": {"Svc-Cron": "0 9 * * *", …}}';
  const change = parseShape('The body', body, scheduleChange, allowed);
  const headers = readHeaders('headers', change.headers ?? []);
  const given = canonicalize(headers, [], settings.headerPrefixes);
  const idField = new ConfigReader(given.prefix, given.config).field('schedule-id');
  if (given.config.has('schedule-id')) {
    throw badField(
      `headers.${idField} is given; allowed are all other headers, because an id cannot change.`,
    );
  }
  const isGiven = ([, values]: readonly [string, readonly string[]]): boolean =>
    values.some((value) => value !== '');

  return save(account, scheduleId, async (before) => {
    if (before === undefined) throw noSuchSchedule(scheduleId);
    const keptBody = change.body === undefined ? await bodyOf(before) : Buffer.from(change.body);
    if (keptBody === undefined) return undefined;
    const { destination = shownUrl(before.destination) } = change;
    const isSameDestination = destination === shownUrl(before.destination);
    const keptHeaders = before.otherHeaders.filter(
      ([name]) => !given.otherHeaders.some(([other]) => other === name),
    );
    return {
      prefix: before.prefix,
      config: new Map([...configOverDefaults(given.config, before.config)].filter(isGiven)),
      otherHeaders: [...keptHeaders, ...given.otherHeaders.filter(([, value]) => value !== '')],
      // Query parameters belong to the destination with which they were given.
      otherQuery: isSameDestination ? before.otherQuery : [],
      destination: isSameDestination ? before.destination : destination,
      body: keptBody,
      callerIp: before.callerIp,
      host,
    };
  });
}
