import { afterAll } from 'vitest';
import { api, ok, unique } from './api.ts';

export interface Endpoint {
  readonly url: string;
  readonly name?: string;
}

const made: string[] = [];
afterAll(async () => {
  await Promise.all(made.splice(0).map((name) => api('DELETE', `/v2/topics/${name}`)));
});

/** Makes an unused URL group name. The group is deleted after the file's tests. */
export function groupName(): string {
  const name = unique('group');
  made.push(name);
  return name;
}

export const addEndpoints = (name: string, endpoints: readonly Endpoint[]) =>
  ok(api('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints } }));

export async function makeGroup(endpoints: readonly Endpoint[]): Promise<string> {
  const name = groupName();
  await addEndpoints(name, endpoints);
  return name;
}

export const setDefaults = (name: string, headers: Readonly<Record<string, string | readonly string[]>>) =>
  ok(api('PATCH', `/v2/topics/${name}`, { body: { headers } }));
