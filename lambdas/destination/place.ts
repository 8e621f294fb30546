import { isArn } from './arns.ts';

/** A URL's `host` or `host:port`; in AWS, the ARN. */
export const hostOf = (destination: string): string =>
  isArn(destination) ? destination : new URL(destination).host;

/** Without query. Functions are invoked with `/`; other AWS destinations have it too. */
export const pathOf = (destination: string): string =>
  isArn(destination) ? '/' : new URL(destination).pathname;
