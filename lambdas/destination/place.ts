/** The host and the path of a destination: circuits and the fairness between destinations go by host, and lists filter by both. */
import { isArn } from './arns.ts';

/** The `host` or `host:port` of a URL; what is in AWS has its ARN in the place of a host. */
export const hostOf = (destination: string): string =>
  isArn(destination) ? destination : new URL(destination).host;

/** The path of a URL, without the query. A function is invoked with the path `/`, which the rest of AWS has as well. */
export const pathOf = (destination: string): string =>
  isArn(destination) ? '/' : new URL(destination).pathname;
