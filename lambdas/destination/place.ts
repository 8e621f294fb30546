/** The host and the path of a destination: circuits and the fairness between destinations go by host, and lists filter by both. */
import { isFunction } from './functions.ts';

/** The `host` or `host:port` of a URL; a function has its ARN in the place of a host. */
export const hostOf = (destination: string): string =>
  isFunction(destination) ? destination : new URL(destination).host;

/** The path of a URL, without the query. A function is invoked with the path `/`. */
export const pathOf = (destination: string): string =>
  isFunction(destination) ? '/' : new URL(destination).pathname;
