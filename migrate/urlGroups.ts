import * as z from 'zod/mini';
import { comparableUrl, differences, prefix, settingNameOf, type Sides, type Step } from './step.ts';

const endpoint = z.object({ url: z.string(), name: z.nullish(z.string()) });
type Endpoint = z.infer<typeof endpoint>;

const urlGroup = z.object({
  name: z.string(),
  endpoints: z.nullish(z.array(endpoint)),
  /** Some APIs have no default headers. */
  headers: z.nullish(z.record(z.string(), z.array(z.string()))),
});
type UrlGroup = z.infer<typeof urlGroup>;

/** An endpoint's comparable form. */
const keyOf = ({ url, name }: Endpoint): string => JSON.stringify([name || null, comparableUrl(url)]);

const endpointsOf = ({ endpoints }: UrlGroup): readonly Endpoint[] => endpoints ?? [];

const defaultsOf = ({ headers }: UrlGroup): readonly (readonly [string, readonly string[]])[] =>
  Object.entries(headers ?? {}).map(([name, values]) => [`${prefix}-${settingNameOf(name) ?? name}`, values]);

const settingsOf = (group: UrlGroup) => ({
  endpoints: endpointsOf(group).map(keyOf).sort(),
  headers: group.headers
    ? defaultsOf(group)
        .map(([name, values]) => [name.toLowerCase(), values])
        .sort()
    : undefined,
});

/** Compares the URL groups of both sides: their endpoints, and their default headers. */
export async function compareUrlGroups({ source, target }: Sides): Promise<readonly Step[]> {
  const there = new Map(((await target.list('/v2/topics', urlGroup)) ?? []).map((one) => [one.name, one]));
  return ((await source.list('/v2/topics', urlGroup)) ?? []).map((group): Step => {
    const found = { kind: 'URL group', name: group.name } as const;
    const count = endpointsOf(group).length;
    if (count === 0) return { ...found, state: 'skipped', note: 'it has no endpoints' };
    const existing = there.get(group.name);
    const act = async (): Promise<undefined> => {
      await copy({ source, target }, group);
    };
    if (existing === undefined) {
      const note = `${count} ${count === 1 ? 'endpoint' : 'endpoints'}${defaultsOf(group).length > 0 ? ', default headers' : ''}`;
      return { ...found, state: 'create', note, act };
    }
    const different = differences(settingsOf(group), settingsOf(existing));
    return different.length === 0
      ? { ...found, state: 'same' }
      : { ...found, state: 'differs', note: different.join(', '), act };
  });
}

/** Adds endpoints before it removes others, because a group without endpoints disappears. */
async function copy({ target }: Sides, group: UrlGroup): Promise<void> {
  const path = `/v2/topics/${encodeURIComponent(group.name)}`;
  const endpoints = endpointsOf(group).map(({ url, name }) => (name ? { url, name } : { url }));
  await target.change('POST', `${path}/endpoints`, { body: { endpoints } });

  // A new endpoint may have replaced an old one with the same name or URL.
  const added = await target.read(path, urlGroup);
  const wanted = new Set(endpointsOf(group).map(keyOf));
  const others = added === undefined ? [] : endpointsOf(added).filter((one) => !wanted.has(keyOf(one)));
  if (others.length > 0) {
    const body = { endpoints: others.map(({ url, name }) => (name ? { url, name } : { url })) };
    await target.change('DELETE', `${path}/endpoints`, { body });
  }

  const defaults = defaultsOf(group);
  const isSet = Object.keys(added?.headers ?? {}).length > 0;
  if (group.headers && (defaults.length > 0 || isSet)) {
    await target.change('PATCH', path, { body: { headers: Object.fromEntries(defaults) } });
  }
}
