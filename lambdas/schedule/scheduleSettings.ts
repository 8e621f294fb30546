/**
 * A schedule's settings as the API shows them. They are stored so that they can be read even if limits
 * change. They are JSON, because DynamoDB's client refuses or loses maps with keys such as `__proto__`, which
 * headers may have.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { changesBetween, hideForwarded, type Changes, type Values } from '../audit/changes.ts';
import { secondMs } from '../shared/clock.ts';
import { shownPeriod } from '../value/flowControl.ts';
import { answered } from '../options/described.ts';
import type { Shape } from '../options/option.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/answers.ts';
import type { PublishOptions } from '../request/publishOptions.ts';
import { settingsRecord } from '../message/records.ts';
import { shownConfig } from '../shared/headers.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import type { Schedule } from './schedule.ts';

type ScheduleSettings = Answer<typeof answers.scheduleSettings>;

/** @param time when the options were read */
export function scheduleSettings(
  options: PublishOptions,
  time: number,
  { queueName, callerIp }: { readonly queueName?: string | undefined; readonly callerIp: string },
): ScheduleSettings {
  const { maxRetries, ...settings } = settingsRecord(options);
  const delayMs = options.notBefore - time;
  return {
    ...settings,
    retries: maxRetries,
    queueName,
    delay: delayMs > 0 ? delayMs / secondMs : undefined,
    callerIP: callerIp,
    callerIp,
  };
}

const isHeaderLists = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every(
    (list: unknown) => Array.isArray(list) && list.every((text) => typeof text === 'string'),
  );

const { maxRetries: retries, ...options } = answered;

const stored: z.ZodMiniType<ScheduleSettings> = z.object({
  ...options,
  // zod's records lose a header named `__proto__`.
  header: z.custom<ScheduleSettings['header']>(isHeaderLists),
  retries,
  delay: z.optional(z.number()),
  queueName: z.optional(z.string()),
  callerIP: z.string(),
  callerIp: z.string(),
} satisfies Shape<ScheduleSettings>);

export const formatScheduleSettings = (settings: ScheduleSettings): string => JSON.stringify(settings);

/** @throws for a text that {@link formatScheduleSettings} did not make */
export function parseScheduleSettings(text: string): ScheduleSettings {
  const settings = stored.parse(JSON.parse(text));
  // Schedules that were saved by older releases have no default period.
  return settings.flowControlKey === undefined
    ? settings
    : { ...settings, period: shownPeriod(settings.period) };
}

/** Identifies a body by its size and digest. */
export const markOf = (body: Uint8Array): string =>
  `${body.length} bytes#${createHash('sha256').update(body).digest('base64url').slice(0, 16)}`;

function valuesOf({ cron, destination, bodyMark, isPaused, view, prefix, config }: Schedule): Values {
  // Left out, because the audit trail has the address of the caller who made the change.
  const settings = { ...parseScheduleSettings(view), callerIP: undefined, callerIp: undefined };
  // The stored settings have only the URLs of callbacks.
  const ofCallbacks = new Map([...config].filter(([name]) => name.includes('callback-')));
  return {
    ...{ cron, destination: shownUrl(destination), body: bodyMark, isPaused },
    ...settings,
    ...shownConfig(prefix, ofCallbacks),
  };
}

const shownValue = (field: string, text: string): string =>
  field === 'body' ? text.replace(/#.*/, '') : hideForwarded(field, text);

export const scheduleChanges = (before: Schedule | undefined, after: Schedule | undefined): Changes =>
  changesBetween(before && valuesOf(before), after && valuesOf(after), shownValue);
