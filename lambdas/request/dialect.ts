/**
 * The only file that knows header prefixes. A deployment accepts a list of them, always with `Svc`. Other files see only
 * canonical names: `delay`, `callback-retries`, `forward-x-tenant`.
 */
import type { SettingName } from '../options/described.ts';
import { headerBytes, headerName, headerText, type Header } from '../shared/headers.ts';
import { scoped, type Config, type CallbackScope } from '../shared/config.ts';
import { badField } from '../error/httpError.ts';

export interface CanonicalRequest {
  /** The prefix of the request's headers, also used for the headers of its deliveries. */
  readonly prefix: string;
  readonly config: Config;
  readonly queryToken: string | undefined;
  /** Headers without an accepted prefix. */
  readonly otherHeaders: readonly Header[];
  /** Query parameters without an accepted prefix. They belong to the destination. */
  readonly otherQuery: readonly Header[];
}

export const defaultPrefix = 'Svc';

/** The query parameter for a token. QStash's is not called like its headers. */
const queryTokenName = (prefix: string): string =>
  prefix === 'Upstash' ? 'qstash_token' : `${prefix.toLowerCase()}_token`;

/** The dialect's part in paths of the management API. QStash's is not called like its headers. */
const brandOf = (prefix: string): string => (prefix === 'Upstash' ? 'qstash' : prefix.toLowerCase());

const acceptedOf = (prefixes: readonly string[]): readonly string[] => [
  defaultPrefix,
  ...prefixes.filter((prefix) => prefix !== defaultPrefix),
];

/**
 * The dialects in which a delivery has headers. A publish without settings shows no dialect, so it counts as
 * the default one. Because clients of other dialects send such publishes, too, its delivery has the headers
 * of all dialects.
 */
export const deliveryDialects = (prefix: string, prefixes: readonly string[]): readonly string[] =>
  prefix === defaultPrefix ? acceptedOf(prefixes) : [prefix];

/** Whether times in a dialect's callbacks are numbers, as existing receivers of QStash expect. */
export const hasNumericTimes = (prefix: string): boolean => prefix === 'Upstash';

/** Finds the prefix of a dialect by its name in a path of the management API. */
export const prefixOfBrand = (brand: string, prefixes: readonly string[]): string | undefined =>
  acceptedOf(prefixes).find((prefix) => brandOf(prefix) === brand);

/**
 * Separates a request's headers and query parameters into configuration and the rest. If both have a setting,
 * the header counts. If a request has two accepted prefixes, the first in the list counts.
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

  const sort = (
    pairs: readonly Header[],
    into: Map<string, string[]>,
    rest: Header[],
    written: (value: string) => string = (value) => value,
  ): void => {
    for (const [name, value] of pairs) {
      const prefix = accepted.find((known) => name.startsWith(`${known.toLowerCase()}-`));
      if (prefix === undefined) {
        rest.push([name, value]);
        continue;
      }
      seen.add(prefix);
      const canonical = name.slice(prefix.length + 1);
      into.set(canonical, [...(into.get(canonical) ?? []), written(value)]);
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
  sort(plainQuery, fromQuery, otherQuery, headerBytes);

  return {
    prefix: accepted.find((prefix) => seen.has(prefix)) ?? defaultPrefix,
    config: new Map([...fromQuery, ...fromHeaders]),
    queryToken,
    otherHeaders,
    otherQuery,
  };
}

/** Reads settings. Errors name headers as the client wrote them. */
export class ConfigReader {
  readonly #prefix: string;
  readonly #config: Config;
  readonly #scope: string;

  /** @param scope `callback` for a callback's configuration; empty for the message's own */
  constructor(prefix: string, config: Config, scope: CallbackScope | '' = '') {
    this.#prefix = prefix;
    this.#config = scope === '' ? config : scoped(config, scope);
    this.#scope = scope === '' ? '' : `${scope}-`;
  }

  field(name: string): string {
    return headerName(this.#prefix, `${this.#scope}${name}`);
  }

  /** The value of a setting, if it is given once. */
  single(name: SettingName): string | undefined {
    const values = this.#config.get(name);
    if (values === undefined) return undefined;
    const [value = '', ...more] = values;
    if (more.some((other) => other !== value)) {
      throw badField(`${this.field(name)} is given ${values.length} times; allowed is once.`);
    }
    return headerText(value).trim();
  }

  read<T>(name: SettingName, parse: (field: string, value: string) => T): T | undefined {
    const value = this.single(name);
    return value === undefined ? undefined : parse(this.field(name), value);
  }

  /** The headers to forward, without their prefix. */
  forwarded(): readonly Header[] {
    return [...scoped(this.#config, 'forward')].flatMap(([name, values]) =>
      values.map((value): Header => [name, value]),
    );
  }

  scope(name: CallbackScope): ConfigReader {
    return new ConfigReader(this.#prefix, this.#config, name);
  }
}
