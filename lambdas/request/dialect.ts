/**
 * The only file that knows header prefixes. A deployment accepts a list of them, always with `Svc`. Other files see only
 * canonical names: `delay`, `callback-retries`, `forward-x-tenant`.
 */
import type { SettingName } from '../options/described.ts';
import { headerBytes, headerName, headerText, type Header } from '../shared/headers.ts';
import { scoped, type Config, type CallbackScope } from '../shared/config.ts';
import { badField } from '../error/httpError.ts';

export interface CanonicalRequest {
  /** The prefix of the request's headers, and of the service's headers for its message. */
  readonly prefix: string;
  readonly config: Config;
  readonly queryToken: string | undefined;
  /** Headers without an accepted prefix. */
  readonly otherHeaders: readonly Header[];
  /** Query parameters without an accepted prefix: they belong to the destination. */
  readonly otherQuery: readonly Header[];
}

export const defaultPrefix = 'Svc';

/** The query parameter for a token. QStash's is not named after its headers. */
const queryTokenName = (prefix: string): string =>
  prefix === 'Upstash' ? 'qstash_token' : `${prefix.toLowerCase()}_token`;

/** The dialect's part of the management API's paths. QStash's is its own name. */
const brandOf = (prefix: string): string => (prefix === 'Upstash' ? 'qstash' : prefix.toLowerCase());

const acceptedOf = (prefixes: readonly string[]): readonly string[] => [
  defaultPrefix,
  ...prefixes.filter((prefix) => prefix !== defaultPrefix),
];

/**
 * A publish without settings shows no dialect and counts as the default one. Clients of other dialects send such publishes,
 * too, so a delivery in the default dialect has the headers of all.
 */
export const deliveryDialects = (prefix: string, prefixes: readonly string[]): readonly string[] =>
  prefix === defaultPrefix ? acceptedOf(prefixes) : [prefix];

/** Whether times in a dialect's callbacks are numbers, because existing receivers of QStash parse them so. */
export const hasNumericTimes = (prefix: string): boolean => prefix === 'Upstash';

/** Finds the accepted dialect of a brand in a management API path. */
export const prefixOfBrand = (brand: string, prefixes: readonly string[]): string | undefined =>
  acceptedOf(prefixes).find((prefix) => brandOf(prefix) === brand);

/**
 * Separates a request's headers and query parameters into configuration and the rest. A header wins over a query parameter with
 * the same name. If a request has two accepted prefixes, the first of the list is remembered.
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

  /** The only value of a header, if it is given. */
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

  /** Headers to forward, without their prefix. */
  forwarded(): readonly Header[] {
    return [...scoped(this.#config, 'forward')].flatMap(([name, values]) =>
      values.map((value): Header => [name, value]),
    );
  }

  scope(name: CallbackScope): ConfigReader {
    return new ConfigReader(this.#prefix, this.#config, name);
  }
}
