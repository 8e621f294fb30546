/**
 * The service's own headers inside a forwarded header. Clients write the full name of the header that their
 * deliveries need, in any dialect: `Upstash-Forward-Upstash-Workflow-Sdk-Version` arrives as
 * `Upstash-Workflow-Sdk-Version`.
 */
import { headerBytes, headerName, type Header } from '../../shared/headers.ts';

export type Prefixes = readonly string[];

/**
 * Removes the service's prefix from a name. @param name in lower case
 * @returns undefined if it has no accepted prefix
 */
export function brandless(name: string, prefixes: Prefixes): string | undefined {
  const prefix = prefixes.find((known) => name.startsWith(`${known.toLowerCase()}-`));
  return prefix === undefined ? undefined : name.slice(prefix.length + 1);
}

/** Adds the service's prefix to the names. Headers without a value are left out. */
export const branded = (
  prefix: string,
  headers: Readonly<Record<string, string | undefined>>,
): readonly Header[] =>
  Object.entries(headers).flatMap(([name, value]): Header[] =>
    value === undefined ? [] : [[headerName(prefix, name).toLowerCase(), headerBytes(value)]],
  );
