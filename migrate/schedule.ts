/** A schedule as APIs show it, its compared settings, and the request that creates it. */
import * as z from 'zod/mini';
import type { ChangeInit } from './api.ts';
import { comparableUrl, prefix, settingNameOf } from './step.ts';

type HeaderLists = Readonly<Record<string, readonly string[]>>;

const isHeaderLists = (value: unknown): boolean =>
  value === null ||
  (typeof value === 'object' &&
    Object.values(value).every(
      (list: unknown) => Array.isArray(list) && list.every((text) => typeof text === 'string'),
    ));

const text = z.nullish(z.string());
const number = z.nullish(z.number());
/** Seconds, or a text such as `30s`. */
const duration = z.nullish(z.union([z.number(), z.string()]));

export const schedule = z.object({
  scheduleId: z.string().check(z.minLength(1)),
  cron: z.string(),
  destination: z.string().check(z.minLength(1)),
  method: text,
  // zod's records lose a header named `__proto__`.
  header: z.optional(z.custom<HeaderLists | null>(isHeaderLists)),
  body: text,
  bodyBase64: text,
  retries: number,
  delay: duration,
  timeout: duration,
  callback: text,
  failureCallback: text,
  retryDelayExpression: text,
  label: text,
  labels: z.nullish(z.array(z.string())),
  flowControlKey: text,
  parallelism: number,
  rate: number,
  ratePerSecond: number,
  period: number,
  queueName: text,
  circuit: text,
  isPaused: z.optional(z.boolean()),
});
export type Schedule = z.infer<typeof schedule>;

const withUnit = (value: number | string): string => (typeof value === 'number' ? `${value}s` : value);

const labelsOf = ({ label, labels }: Schedule): readonly string[] => labels ?? (label ? [label] : []);

const bodyOf = ({ body, bodyBase64 }: Schedule): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(bodyBase64 ? Buffer.from(bodyBase64, 'base64') : Buffer.from(body ?? ''));

/** `parallelism=2, rate=5, period=60`; undefined without a key. */
function flowControlOf(one: Schedule): string | undefined {
  if (!one.flowControlKey) return undefined;
  const rate = one.rate || one.ratePerSecond;
  const parts = [
    one.parallelism ? [`parallelism=${one.parallelism}`] : [],
    rate ? [`rate=${rate}`, `period=${one.period || 1}`] : [],
  ];
  return parts.flat().join(', ');
}

/** The destination's headers, and the service's settings that some APIs show among them. */
function headersOf({ header }: Schedule) {
  const all = Object.entries(header ?? {}).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  return {
    forwarded: all.filter(([name]) => settingNameOf(name) === undefined),
    settings: all.filter(([name]) => settingNameOf(name) !== undefined),
  };
}

/** A schedule's compared settings, as named in the report. Whether it is paused is not compared; see `switch.ts`. */
export const settingsOf = (one: Schedule) => ({
  cron: one.cron.trim().split(/\s+/).join(' '),
  destination: comparableUrl(one.destination),
  method: (one.method || 'POST').toUpperCase(),
  headers: headersOf(one)
    .forwarded.map(([name, value]) => JSON.stringify([name.toLowerCase(), value]))
    .toSorted(),
  body: Buffer.from(bodyOf(one)).toString('base64'),
  retries: one.retries ?? undefined,
  delay: one.delay ? withUnit(one.delay) : '',
  timeout: one.timeout ? withUnit(one.timeout) : undefined,
  callback: comparableUrl(one.callback ?? ''),
  'failure callback': comparableUrl(one.failureCallback ?? ''),
  'retry delay': one.retryDelayExpression ?? '',
  labels: labelsOf(one),
  'flow control': [one.flowControlKey ?? '', flowControlOf(one) ?? ''],
  queue: one.queueName ?? '',
  circuit: one.circuit ?? undefined,
});

const redacted = /^REDACTED:[0-9a-f]{64}$/i;

/** Why a schedule cannot be created from the API's answer; undefined if it can. */
export function reasonToSkip(one: Schedule): string | undefined {
  const names = headersOf(one).forwarded.flatMap(([name, value]) => (redacted.test(value) ? [name] : []));
  if (one.body && redacted.test(one.body)) names.unshift('body');
  if (names.length === 0) return undefined;
  return `the source shows only hashes of what is redacted (${names.join(', ')}): make it by hand`;
}

const isContentType = (name: string): boolean => name.toLowerCase() === 'content-type';

/** Makes the request that creates a schedule, or replaces the one with its id. */
export function requestOf(one: Schedule): { readonly path: string; readonly init: ChangeInit } {
  const { forwarded, settings } = headersOf(one);
  const flowControl = flowControlOf(one);
  const pairs: (readonly [string, string | undefined])[] = [
    ['Cron', one.cron],
    ['Schedule-Id', one.scheduleId],
    ['Method', one.method || undefined],
    ['Retries', one.retries === null || one.retries === undefined ? undefined : String(one.retries)],
    ['Delay', one.delay ? withUnit(one.delay) : undefined],
    ['Timeout', one.timeout ? withUnit(one.timeout) : undefined],
    ['Callback', one.callback || undefined],
    ['Failure-Callback', one.failureCallback || undefined],
    ['Retry-Delay', one.retryDelayExpression || undefined],
    ['Label', labelsOf(one).join(',') || undefined],
    ['Flow-Control-Key', flowControl ? (one.flowControlKey ?? undefined) : undefined],
    ['Flow-Control-Value', flowControl || undefined],
    ['Queue-Name', one.queueName || undefined],
    ['Circuit', one.circuit || undefined],
    ...settings.map(([name, value]) => [settingNameOf(name) ?? name, value] as const),
    ...forwarded
      .filter(([name]) => !isContentType(name))
      .map(([name, value]) => [`Forward-${name}`, value] as const),
  ];
  const headers = new Headers(forwarded.filter(([name]) => isContentType(name)).map(([...pair]) => pair));
  const query = new URLSearchParams();
  for (const [name, value] of pairs) {
    if (value === undefined) continue;
    // Headers are ASCII only. A query parameter with the same name has the same meaning.
    if (/^[ -~]*$/.test(value)) headers.append(`${prefix}-${name}`, value);
    else query.append(`${prefix}-${name}`.toLowerCase(), value);
  }
  const body = bodyOf(one);
  return {
    path: `/v2/schedules/${pathOf(one.destination)}${query.size > 0 ? `?${query.toString()}` : ''}`,
    init: { headers, ...(body.length > 0 && { body }) },
  };
}

/** Writes a destination into a path. It is encoded if URL parsers would change it. */
const pathOf = (destination: string): string =>
  /^https?:\/\/[\w.:-]+(\/[\w~-][\w.~-]*)*\/?$/i.test(destination) || /^[\w.-]+$/.test(destination)
    ? destination
    : encodeURIComponent(destination);
