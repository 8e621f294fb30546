/** The schedules and URL groups that an app has in an account. */
import type { SvcAccount } from './svcAccount.ts';

interface InAccount {
  /** @default the only account that the app makes */
  readonly account?: SvcAccount;
}

export interface SvcScheduleProps extends InAccount {
  /** Five fields, in UTC unless `CRON_TZ=<zone>` is before them: see docs/publishing.md. */
  readonly cron: string;
  /** A URL, or the name of a URL group. */
  readonly destination: string;
  /** @default empty */
  readonly body?: string;
  /**
   * Headers that the destination gets. The template shows them: put no secrets there.
   *
   * @default none
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Options of the message, by the names of their headers without the prefix, such as `{ Method: 'GET', Retries: '5' }`: see
   * docs/publishing.md.
   *
   * @default none
   */
  readonly options?: Readonly<Record<string, string>>;
}

export interface SvcUrlGroupProps extends InAccount {
  /** Other endpoints of the group are removed. */
  readonly endpoints: readonly { readonly url: string; readonly name?: string }[];
}

export const headersOf = ({
  cron,
  headers,
  options,
}: SvcScheduleProps): readonly (readonly [string, string])[] => [
  ['Svc-Cron', cron],
  ...Object.entries(options ?? {}).map(([name, value]) => [`Svc-${name}`, value] as const),
  ...Object.entries(headers ?? {}).map(([name, value]) => [`Svc-Forward-${name}`, value] as const),
];
