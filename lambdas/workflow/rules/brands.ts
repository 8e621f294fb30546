/**
 * Names of the service's own headers within a forwarded name. The client names a header for its deliveries in full:
 * `Upstash-Forward-Upstash-Workflow-Sdk-Version` arrives as `Upstash-Workflow-Sdk-Version`, whatever the dialect around it is.
 */
import { headerName, type Header } from '../../shared/headers.ts';

/** The header prefixes that a deployment accepts. */
export type Prefixes = readonly string[];

/** Strips an accepted prefix from a header's name in lower case; undefined when it has none. */
export function brandless(name: string, prefixes: Prefixes): string | undefined {
  const prefix = prefixes.find((known) => name.startsWith(`${known.toLowerCase()}-`));
  return prefix === undefined ? undefined : name.slice(prefix.length + 1);
}

/** Writes headers with canonical names in a dialect; those without a value are left out. */
export const branded = (
  prefix: string,
  headers: Readonly<Record<string, string | undefined>>,
): readonly Header[] =>
  Object.entries(headers).flatMap(([name, value]): Header[] =>
    value === undefined ? [] : [[headerName(prefix, name).toLowerCase(), value]],
  );
