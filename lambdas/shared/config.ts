/**
 * A request's configuration by canonical name: the header's name without its prefix, such as `retry-delay`. A
 * name that is repeated has several values. Each has a character for each byte: see `headerText`.
 */
export type Config = ReadonlyMap<string, readonly string[]>;

/** If a request has one of these settings, the default of the other is ignored. */
const alternatives = [['delay', 'not-before']] as const;

/** Adds a URL group's defaults. */
export function configOverDefaults(config: Config, defaults: Config | undefined): Config {
  const merged = new Map([...(defaults ?? []), ...config]);
  for (const names of alternatives) {
    if (!names.some((name) => config.has(name))) continue;
    for (const name of names) if (!config.has(name)) merged.delete(name);
  }
  return merged;
}

/** The configuration in a scope: `retries` from `callback-retries`, for `callback`. */
export function scoped(config: Config, scope: string): Config {
  const inner = new Map<string, readonly string[]>();
  for (const [name, values] of config) {
    if (name.startsWith(`${scope}-`)) inner.set(name.slice(scope.length + 1), values);
  }
  return inner;
}

export const callbackScopes = ['callback', 'failure-callback'] as const;
export type CallbackScope = (typeof callbackScopes)[number];
