/** Destinations without an address: `pull:` and a name, under which clients take messages. */
import { badRequest } from '../error/httpError.ts';
import { longestOpenMs } from '../shared/bounds.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';

const form = /^pull:[A-Za-z0-9._-]{1,100}$/;

const allowed = 'pull:<name> with a name of 1 to 100 letters, digits, ".", "_" and "-"';

/** How long a message waits for a client that takes it, unless it says so itself (`Svc-Deferred`), in milliseconds. */
export const longestOfferMs = longestOpenMs;

export const isPull = (destination: string): boolean => destination.startsWith('pull:');

export const pullOf = (name: string): string => `pull:${name}`;

export const pullNameOf = (destination: string): string => destination.slice('pull:'.length);

export function parsePull(field: string, text: string): string {
  if (form.test(text)) return text;
  throw badRequest('destination_invalid', `${field} is ${quoteUrl(text)}; allowed is ${allowed}.`);
}
