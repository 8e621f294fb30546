/**
 * A schedule's settings as the API shows them. They are read from the schedule's request once, and kept with it as JSON:
 * limits that change later must not make them unreadable. JSON, because DynamoDB's client refuses or loses maps with keys
 * such as `__proto__`, which headers may have.
 */
import * as z from 'zod/mini';
import { secondMs } from '../shared/clock.ts';
import { methods } from '../value/method.ts';
import { shownPeriod } from '../value/flowControl.ts';
import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/answers.ts';
import type { PublishOptions } from '../request/publishOptions.ts';
import { settingsRecord } from '../message/records.ts';

export type ScheduleSettings = Answer<typeof answers.scheduleSettings>;

/** @param time Unix milliseconds at which the options were read */
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

const text = z.optional(z.string());
const number = z.optional(z.number());

const stored: z.ZodMiniType<ScheduleSettings> = z.object({
  method: z.enum(methods),
  // zod's own records lose a header that is called `__proto__`.
  header: z.custom<ScheduleSettings['header']>(isHeaderLists),
  retryDelayExpression: text,
  timeout: z.number(),
  label: text,
  labels: z.optional(z.array(z.string())),
  flowControlKey: text,
  parallelism: number,
  rate: number,
  ratePerSecond: number,
  period: number,
  callback: text,
  circuit: z.optional(z.enum(['on', 'off'])),
  failureCallback: text,
  retries: z.number(),
  delay: number,
  queueName: text,
  callerIP: z.string(),
  callerIp: z.string(),
} satisfies Record<keyof ScheduleSettings, z.ZodMiniType>);

export const formatScheduleSettings = (settings: ScheduleSettings): string => JSON.stringify(settings);

/** @throws when the text is none that {@link formatScheduleSettings} made */
export function parseScheduleSettings(text: string): ScheduleSettings {
  const settings = stored.parse(JSON.parse(text));
  // Schedules of before were kept without the period that none stands for.
  return settings.flowControlKey === undefined
    ? settings
    : { ...settings, period: shownPeriod(settings.period) };
}
