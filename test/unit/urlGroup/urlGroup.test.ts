import { describe, expect, it } from 'vitest';
import { withEndpoints, withoutEndpoints, type Endpoint } from '../../../lambdas/urlGroup/urlGroup.ts';

const a = { url: 'https://a.example' };
const b = { url: 'https://b.example', name: 'b' };
const c = { url: 'https://c.example', name: 'c' };

describe('added endpoints', () => {
  it.each<[title: string, added: readonly Endpoint[], all: readonly Endpoint[]]>([
    ['come last', [c], [a, b, c]],
    ['replace one of the same name', [{ url: c.url, name: 'b' }], [a, { url: c.url, name: 'b' }]],
    ['replace one of the same URL', [{ url: a.url, name: 'a' }], [{ url: a.url, name: 'a' }, b]],
    ['give one of the same URL another name', [{ url: b.url, name: 'x' }], [a, { url: b.url, name: 'x' }]],
    ['take the name of one with the same URL', [{ url: b.url }], [a, { url: b.url }]],
    ['are found by their name first', [{ url: a.url, name: 'b' }], [a, { url: a.url, name: 'b' }]],
  ])('%s', (_title, added, all) => {
    expect(withEndpoints([a, b], added)).toEqual(all);
  });
});

describe('removed endpoints', () => {
  it.each([
    ['by URL', [{ url: a.url }], [b, c], []],
    ['by name', [{ name: 'b' }], [a, c], []],
    ['by both', [{ name: 'b', url: b.url }, { name: 'c' }], [a], []],
    ['unless both match', [{ name: 'b', url: c.url }], [a, b, c], [{ name: 'b', url: c.url }]],
    ['and unknown ones are told', [{ name: 'x' }, { url: a.url }], [b, c], [{ name: 'x' }]],
  ])('are found %s', (_title, keys, left, unknown) => {
    expect(withoutEndpoints([a, b, c], keys)).toEqual({ left, unknown });
  });
});
