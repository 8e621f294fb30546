/**
 * The service's own headers within a forwarded name. The client writes the full name that its deliveries need, in any dialect:
 * `Upstash-Forward-Upstash-Workflow-Sdk-Version` arrives as `Upstash-Workflow-Sdk-Version`.
 */
import { headerBytes, headerName, type Header } from '../../shared/headers.ts';

export type Prefixes = readonly string[];

/** Returns undefined without an accepted prefix. @param name in lower case */
export function brandless(name: string, prefixes: Prefixes): string | undefined {
  const prefix = prefixes.find((known) => name.startsWith(`${known.toLowerCase()}-`));
  return prefix === undefined ? undefined : name.slice(prefix.length + 1);
}

/** Omits headers without a value. */
export const branded = (
  prefix: string,
  headers: Readonly<Record<string, string | undefined>>,
): readonly Header[] =>
  Object.entries(headers).flatMap(([name, value]): Header[] =>
    value === undefined ? [] : [[headerName(prefix, name).toLowerCase(), headerBytes(value)]],
  );
