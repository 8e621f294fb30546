/**
 * The configuration of a request by canonical names: a header's name without the prefix, such as `retry-delay`. A name that is
 * given several times has several values.
 */
export type Config = ReadonlyMap<string, readonly string[]>;

/** Settings that answer the same question: a request that gives one of them overrides defaults of the others too. */
const alternatives = [['delay', 'not-before']] as const;

/** Adds the defaults of a URL group to a request's configuration, for the settings that it does not give. */
export function configOverDefaults(config: Config, defaults: Config | undefined): Config {
  const merged = new Map([...(defaults ?? []), ...config]);
  for (const names of alternatives) {
    if (!names.some((name) => config.has(name))) continue;
    for (const name of names) if (!config.has(name)) merged.delete(name);
  }
  return merged;
}

/** Picks the configuration below a scope: `retries` from `callback-retries`, for the scope `callback`. */
export function scoped(config: Config, scope: string): Config {
  const inner = new Map<string, readonly string[]>();
  for (const [name, values] of config) {
    if (name.startsWith(`${scope}-`)) inner.set(name.slice(scope.length + 1), values);
  }
  return inner;
}

/** The scopes of the two callbacks: their configuration is named `callback-…` and `failure-callback-…`. */
export const callbackScopes = ['callback', 'failure-callback'] as const;
export type CallbackScope = (typeof callbackScopes)[number];
