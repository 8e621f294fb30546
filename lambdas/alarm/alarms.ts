import { randomUUID } from 'node:crypto';
import { refuseWhileDraining, type Account } from '../account/account.ts';
import type { Caller } from '../account/caller.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { notFound } from '../error/httpError.ts';
import { acceptAll } from '../publish/accept.ts';
import { now } from '../shared/clock.ts';
import { shownHeaders } from '../shared/headers.ts';
import { hidden, shownUrl, shownWebhook } from '../shared/urlCredentials.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/alarms.ts';
import type { Alarms, AlarmSettings } from './alarm.ts';
import { testDrafts } from './draft.ts';
import { readSettings, settingChanges, type AlarmsRequest } from './settings.ts';
import { deleteAlarms, loadAlarms, saveAlarms } from './store/rows.ts';

function shown(alarms: Alarms | undefined, access: Caller['access']): Answer<typeof answers.alarms> {
  if (alarms === undefined) return { open: [] };
  const { url, headers, routingKey, ...rest } = alarms.settings;
  const isHidden = access !== 'write';
  return {
    settings: {
      ...rest,
      url: isHidden ? shownWebhook(url) : shownUrl(url),
      routingKey: isHidden ? routingKey && hidden : routingKey,
      headers:
        headers.length === 0
          ? undefined
          : shownHeaders(isHidden ? headers.map(([name]) => [name, hidden]) : headers),
    },
    open: alarms.open
      .map(({ kind, subject, title, detail, openedAt, isTold }) => ({
        kind,
        subject,
        title,
        detail,
        openedAt,
        isTold,
      }))
      .toSorted((one, other) => other.openedAt - one.openedAt),
  };
}

export const getAlarms = async ({ account, access }: Caller): Promise<Answer<typeof answers.alarms>> =>
  shown(await loadAlarms(account.id), access);

const isSamePlace = (one: AlarmSettings, other: AlarmSettings): boolean =>
  one.url === other.url && one.format === other.format && one.routingKey === other.routingKey;

/**
 * Sets an account's alarms, which replace the old ones. If they get another destination, open conditions are
 * reported to it.
 *
 * @throws HttpError 400, 403 or 503
 */
export async function putAlarms(
  { account, access }: Caller,
  request: AlarmsRequest,
): Promise<{
  readonly body: Answer<typeof answers.alarms>;
  readonly changes: ReturnType<typeof settingChanges>;
}> {
  const { alarms, before } = await retryOnConflict(
    'The alarms are being changed by many at once; send the change again.',
    async () => {
      const before = await loadAlarms(account.id);
      const settings = await readSettings(account, request, before?.settings);
      const kept = before !== undefined && isSamePlace(before.settings, settings) ? before : undefined;
      const alarms: Alarms = {
        seed: randomUUID(),
        open: [],
        notices: [],
        toldSince: 0,
        ...kept,
        accountId: account.id,
        settings,
        callerIp: request.callerIp,
        version: (before?.version ?? 0) + 1,
      };
      return (await saveAlarms(alarms, before)) ? { alarms, before } : undefined;
    },
  );
  return { body: shown(alarms, access), changes: settingChanges(before?.settings, alarms.settings) };
}

/** Deletes an account's alarms, if any. */
export async function removeAlarms({ id }: Account): Promise<ReturnType<typeof settingChanges>> {
  const before = await deleteAlarms(id);
  return settingChanges(before?.settings, undefined);
}

/**
 * Sends a test to the destination of the alarms, even in quiet hours.
 *
 * @throws HttpError 404, 412, 429 or 503; nothing is sent then
 */
export async function testAlarms(account: Account): Promise<Answer<typeof answers.testedAlarm>> {
  refuseWhileDraining(account);
  const alarms = await loadAlarms(account.id);
  if (alarms === undefined)
    throw notFound('alarms_not_set', 'The account has no alarms; set them by PUT /v2/alarms.');
  const drafts = testDrafts(account, alarms, now());
  await acceptAll(account, drafts);
  return { messageId: drafts[0].message.messageId };
}
