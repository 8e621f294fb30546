/** The schedules and URL groups that an app has in an account. */
import type { SvcAccount } from './svcAccount.ts';

interface InAccount {
  /** @default the only account that the app makes */
  readonly account?: SvcAccount;
}

export interface SvcScheduleProps extends InAccount {
  /** Five fields, with `CRON_TZ=<zone>` before them for another time zone than UTC: see docs/publishing.md. */
  readonly cron: string;
  /** A URL, or the name of a URL group. */
  readonly destination: string;
  /** @default empty */
  readonly body?: string;
  /**
   * Headers that the destination gets. They are in the template: put no secrets there.
   *
   * @default none
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Options of a message by the names of their headers without the prefix, such as `{ Method: 'GET', Retries: '5' }`: see
   * docs/publishing.md.
   *
   * @default none
   */
  readonly options?: Readonly<Record<string, string>>;
}

export interface SvcUrlGroupProps extends InAccount {
  /** All endpoints of the group: endpoints in the service that are not in this list are removed. */
  readonly endpoints: readonly { readonly url: string; readonly name?: string }[];
}

/** The headers with which the API would be asked for the schedule. */
export const headersOf = ({
  cron,
  headers,
  options,
}: SvcScheduleProps): readonly (readonly [string, string])[] => [
  ['Svc-Cron', cron],
  ...Object.entries(options ?? {}).map(([name, value]) => [`Svc-${name}`, value] as const),
  ...Object.entries(headers ?? {}).map(([name, value]) => [`Svc-Forward-${name}`, value] as const),
];
