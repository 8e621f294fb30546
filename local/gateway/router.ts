/** Finds the route of a request as API Gateway does: the most specific resource. */
import type { GatewayRoute } from '../../lambdas/http/routes.ts';
import { decodedOrAsIs } from '../../lambdas/shared/text.ts';

export interface Routed {
  readonly route: GatewayRoute;
  readonly pathParameters: Record<string, string> | null;
}

export type Router = (path: string) => Routed | undefined;

/** Ranks of segments: a resource is more specific if its first different segment has a lower rank. */
const ranks = { literal: 0, parameter: 1, rest: 2 } as const;

interface Segment {
  readonly kind: keyof typeof ranks;
  readonly name: string;
}

export function createRouter(routes: readonly GatewayRoute[]): Router {
  const resources = routes
    .map((route) => ({ segments: segmentsOf(route.path), route }))
    .sort((a, b) => bySpecificity(a.segments, b.segments));

  return (path) => {
    // AWS ignores empty segments. The function gets the original path.
    const texts = path.split('/').filter((text) => text !== '');
    for (const { segments, route } of resources) {
      const pathParameters = match(segments, texts);
      if (pathParameters === undefined) continue;
      return { route, pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null };
    }
    return undefined;
  };
}

function segmentsOf(path: string): Segment[] {
  return path
    .slice(1)
    .split('/')
    .map((text) => {
      const [, name, rest] = /^\{([^}+]+)(\+?)\}$/.exec(text) ?? [];
      if (name === undefined) return { kind: 'literal', name: text };
      return { kind: rest === '' ? 'parameter' : 'rest', name };
    });
}

function bySpecificity(a: readonly Segment[], b: readonly Segment[]): number {
  const rankAt = (segments: readonly Segment[], index: number): number =>
    ranks[segments[index]?.kind ?? 'literal'];
  const differs = a.findIndex((_, index) => rankAt(a, index) !== rankAt(b, index));
  return differs < 0 ? b.length - a.length : rankAt(a, differs) - rankAt(b, differs);
}

/**
 * @param texts the non-empty segments of the path
 * @returns the decoded parameters; undefined if the path does not match
 */
function match(segments: readonly Segment[], texts: readonly string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, { kind, name }] of segments.entries()) {
    const text = kind === 'rest' ? texts.slice(index).join('/') : texts[index];
    if (text === undefined || text === '') return undefined;
    if (kind === 'literal' && text !== name) return undefined;
    if (kind !== 'literal') parameters[name] = decodedOrAsIs(text);
    if (kind === 'rest') return parameters;
  }
  return texts.length === segments.length ? parameters : undefined;
}
