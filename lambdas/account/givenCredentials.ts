/**
 * Credentials that replace one account's derived ones. Only a program that runs the handlers in its own process can give them,
 * such as the local stage with `--dev`.
 */
import type { GivenCredentials } from './credentials.ts';

let given: GivenCredentials | undefined;

/** Must be called before the first request. */
export function giveCredentials(credentials: GivenCredentials): void {
  given = credentials;
}

export const givenCredentials = (): GivenCredentials | undefined => given;
