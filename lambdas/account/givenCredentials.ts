/**
 * Credentials that one account is given, instead of those that are derived for it. Only the program that runs the handlers in
 * its own process can give them, as the local stage does with `--dev`. No setting, no secret and no request can, so nothing
 * that is deployed has any.
 */
import type { GivenCredentials } from './credentials.ts';

let given: GivenCredentials | undefined;

/** Gives an account a token and signing keys, before the first request. */
export function giveCredentials(credentials: GivenCredentials): void {
  given = credentials;
}

export const givenCredentials = (): GivenCredentials | undefined => given;
