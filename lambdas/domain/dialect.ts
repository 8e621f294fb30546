/**
 * The only place that knows header prefixes. A deployment accepts a list of them (`Svc` always first), and
 * everything behind this file sees canonical names: `delay`, `callback-retries`, `forward-x-tenant`.
 */
import type { CallbackScope, ConfigurationName } from './configuration.ts';
import { badRequest } from './httpError.ts';

/** A header name in lower case, and one value. */
export type Header = readonly [name: string, value: string];

/** Configuration by canonical name; a name given several times has several values. */
export type Config = ReadonlyMap<string, readonly string[]>;

export interface CanonicalRequest {
  /** The prefix the message came with; what the service sends on its behalf uses it too. */
  readonly prefix: string;
  readonly config: Config;
  /** The token of the query, when there is one. */
  readonly queryToken: string | undefined;
  /** Headers that are not the service's. */
  readonly otherHeaders: readonly Header[];
  /** Query parameters that are not the service's: they belong to the destination. */
  readonly otherQuery: readonly Header[];
}

export const defaultPrefix = 'Svc';

/** The query parameter that carries a token; QStash's is not named after its headers. */
const queryTokenName = (prefix: string): string =>
  prefix === 'Upstash' ? 'qstash_token' : `${prefix.toLowerCase()}_token`;

/** What stands in the management API's paths; QStash's is its own name. */
const brandOf = (prefix: string): string => (prefix === 'Upstash' ? 'qstash' : prefix.toLowerCase());

const acceptedOf = (prefixes: readonly string[]): readonly string[] => [
  defaultPrefix,
  ...prefixes.filter((prefix) => prefix !== defaultPrefix),
];

/** The dialect whose brand stands in a path of the management API; undefined when it is none that is accepted. */
export const prefixOfBrand = (brand: string, prefixes: readonly string[]): string | undefined =>
  acceptedOf(prefixes).find((prefix) => brandOf(prefix) === brand);

/**
 * Sorts a request's headers and query parameters into configuration and the rest. A header wins over a query
 * parameter of the same name; of two accepted prefixes in one request, the first of the list is remembered.
 *
 * @param headers lower-case names
 * @param query decoded names and values
 */
export function canonicalize(
  headers: readonly Header[],
  query: readonly Header[],
  prefixes: readonly string[],
): CanonicalRequest {
  const accepted = acceptedOf(prefixes);
  const seen = new Set<string>();
  const fromHeaders = new Map<string, string[]>();
  const fromQuery = new Map<string, string[]>();
  const otherHeaders: Header[] = [];
  const otherQuery: Header[] = [];
  let queryToken: string | undefined;

  const sort = (pairs: readonly Header[], into: Map<string, string[]>, rest: Header[]): void => {
    for (const [name, value] of pairs) {
      const prefix = accepted.find((known) => name.startsWith(`${known.toLowerCase()}-`));
      if (prefix === undefined) {
        rest.push([name, value]);
        continue;
      }
      seen.add(prefix);
      const canonical = name.slice(prefix.length + 1);
      into.set(canonical, [...(into.get(canonical) ?? []), value]);
    }
  };

  sort(headers, fromHeaders, otherHeaders);
  const plainQuery: Header[] = [];
  for (const [name, value] of query) {
    const prefix = accepted.find((known) => name === queryTokenName(known));
    if (prefix === undefined) {
      plainQuery.push([name, value]);
      continue;
    }
    seen.add(prefix);
    queryToken ??= value;
  }
  sort(plainQuery, fromQuery, otherQuery);

  return {
    prefix: accepted.find((prefix) => seen.has(prefix)) ?? defaultPrefix,
    config: new Map([...fromQuery, ...fromHeaders]),
    queryToken,
    otherHeaders,
    otherQuery,
  };
}

/** A canonical name as the client wrote it: `retry-delay` is `Upstash-Retry-Delay` in that dialect. */
export function headerName(prefix: string, canonical: string): string {
  const words = canonical.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${prefix}-${words.join('-')}`;
}

/**
 * The configuration below a scope: from `callback-retries` and the scope `callback` comes `retries`.
 */
export function scoped(config: Config, scope: string): Config {
  const inner = new Map<string, readonly string[]>();
  for (const [name, values] of config) {
    if (name.startsWith(`${scope}-`)) inner.set(name.slice(scope.length + 1), values);
  }
  return inner;
}

/** Reads one configuration header after another, knowing how its author spelled it. */
export class ConfigReader {
  readonly #prefix: string;
  readonly #config: Config;
  readonly #scope: string;

  /** @param scope `callback` for the configuration of a callback; empty for the message's own */
  constructor(prefix: string, config: Config, scope: CallbackScope | '' = '') {
    this.#prefix = prefix;
    this.#config = scope === '' ? config : scoped(config, scope);
    this.#scope = scope === '' ? '' : `${scope}-`;
  }

  /** A header's name as its author wrote it, for errors. */
  field(name: string): string {
    return headerName(this.#prefix, `${this.#scope}${name}`);
  }

  /** The one value of a header that may be given once; undefined when it is not given. */
  single(name: ConfigurationName): string | undefined {
    const values = this.#config.get(name);
    if (values === undefined) return undefined;
    const [value = '', ...more] = values;
    if (more.some((other) => other !== value)) {
      throw badRequest(`${this.field(name)} is given ${values.length} times; allowed is once.`);
    }
    return value.trim();
  }

  /** Reads a header with a parser that is given its name, as written, and its value. */
  read<T>(name: ConfigurationName, parse: (field: string, value: string) => T): T | undefined {
    const value = this.single(name);
    return value === undefined ? undefined : parse(this.field(name), value);
  }

  /** Headers to forward, their prefix gone. */
  forwarded(): readonly Header[] {
    return [...scoped(this.#config, 'forward')].flatMap(([name, values]) =>
      values.map((value): Header => [name, value]),
    );
  }

  /** The same configuration, seen from below a scope such as `callback`. */
  scope(name: CallbackScope): ConfigReader {
    return new ConfigReader(this.#prefix, this.#config, name);
  }
}
