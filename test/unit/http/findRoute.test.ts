import { describe, expect, it } from 'vitest';
import { basePathOf, variablesIn } from '../../../lambdas/http/findRoute.ts';
import {
  consoleRoutes,
  findManagementRoute,
  findRoute,
  gatewayRoutesOf,
  managementRoutes,
  routes,
} from '../../../lambdas/http/routes.ts';

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Returns a request’s route and variables from its raw path, like the function behind the gateway. */
function found(method: string, rawPath: string) {
  const { route } = findRoute(method, rawPath);
  return route && [route.path, { ...variablesIn(route.path, rawPath) }];
}

const destination = 'https://example.com//a//b/?';

describe('a path with extra slashes', () => {
  it.each([
    ['GET', '/v2/queues//', '/v2/queues', {}],
    ['GET', '/stage//v2//queues/mail', '/v2/queues/{name}', { name: 'mail' }],
    ['POST', '/v2/queues//mail//pause/', '/v2/queues/{name}/pause', { name: 'mail' }],
    ['POST', `/v2//publish/${destination}`, '/v2/publish/{destination+}', { destination }],
    [
      'POST',
      `//v2//enqueue//mail/${destination}/`,
      '/v2/enqueue/{queueName}/{destination+}',
      { queueName: 'mail', destination: `${destination}/` },
    ],
    ['GET', '/v2/workflows//runs/wfr_1/', '/v2/workflows/runs/{runId}', { runId: 'wfr_1' }],
  ])('belongs to its operation: %s %s', (method, path, route, variables) => {
    expect(found(method, path)).toEqual([route, variables]);
  });
});

describe('an operation’s name in another case', () => {
  it.each([
    [
      'POST',
      '/v2/Schedules/https://Example.com/A',
      '/v2/schedules/{schedule+}',
      { schedule: 'https://Example.com/A' },
    ],
    ['POST', '/v2/queues/Mail/Pause', '/v2/queues/{name}/pause', { name: 'Mail' }],
    ['POST', '/v2/FLOWCONTROL/Key/resetrate', '/v2/flowControl/{key}/resetRate', { key: 'Key' }],
  ])('belongs to that operation, with unchanged variables: %s %s', (method, path, route, variables) => {
    expect(found(method, path)).toEqual([route, variables]);
  });

  it('is a variable’s value if the path has a variable there', () => {
    expect(found('GET', '/v2/dlq/Retry')).toEqual(['/v2/dlq/{dlqId}', { dlqId: 'Retry' }]);
  });
});

describe('HEAD', () => {
  it.each([...routes, ...managementRoutes].filter(({ method }) => method === 'GET').map(({ path }) => path))(
    'is answered by the route of GET: %s',
    (path) => {
      const raw = path.replace(/\{\w+\+?\}/g, 'x').replace('/x/users', '/svc/users');
      const find = routes.some((one) => one.path === path) ? findRoute : findManagementRoute;
      const { route } = find('HEAD', raw);
      // Webhooks of runs have a separate route for HEAD.
      expect([route?.path, route?.method]).toEqual([
        path,
        path.startsWith('/v2/workflows/hooks/') ? 'HEAD' : 'GET',
      ]);
    },
  );
});

describe('a destination', () => {
  it.each([
    ['/v2/publish//example', '/example'],
    ['/v2/publish/https://example.com//v2//publish//x', 'https://example.com//v2//publish//x'],
  ])('is read byte for byte: %s', (path, expected) => {
    expect(found('POST', path)).toEqual(['/v2/publish/{destination+}', { destination: expected }]);
  });

  it.each(['https://pause', 'https://example.com/pause'])(
    'that ends like an operation of schedules is one: %s',
    (schedule) => {
      expect(found('POST', `/v2/schedules/${schedule}`)).toEqual(['/v2/schedules/{schedule+}', { schedule }]);
    },
  );
});

describe('a fixed segment', () => {
  it.each([
    ['DELETE', '/v2/messages/count', ['GET']],
    ['DELETE', '/v2/dlq//count/', ['GET']],
    ['GET', '/v2/workflows/dlq/resume', ['POST']],
  ])('is not the value of a variable at its place, for any method: %s %s', (method, path, allowed) => {
    const { route, matching } = findRoute(method, path);
    expect([route, matching.map((one) => one.method)]).toEqual([undefined, allowed]);
  });

  it('leaves other values to the variable', () => {
    expect(found('DELETE', '/v2/messages/counts')).toEqual([
      '/v2/messages/{messageId}',
      { messageId: 'counts' },
    ]);
  });
});

describe('the routes of the gateway', () => {
  it.each([
    ['messaging', [...routes, ...consoleRoutes]],
    ['management', [...managementRoutes, ...consoleRoutes]],
  ])('lead each path of the %s API to its function', (_, table) => {
    const gateway = gatewayRoutesOf(table);
    // API Gateway finds a resource by the exact case of its path.
    const inOtherCases = table.flatMap((route) =>
      [
        (name: string) => name,
        (name: string) => name.toLowerCase(),
        (name: string) => name.toUpperCase(),
        capitalized,
      ].map((spell) => ({ ...route, path: route.path.replace(/(?<=^\/v2\/)[\w.]+/, spell) })),
    );
    for (const { path, function: own } of inOtherCases) {
      const leading = gateway.filter(
        (one) => one.path === path || path.startsWith(one.path.replace('{proxy+}', '')),
      );
      expect([path, [...new Set(leading.map((one) => one.function))]]).toEqual([path, [own]]);
    }
  });

  it('do not exist for a path that no route has or begins with', () => {
    const paths = gatewayRoutesOf(routes).map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['/v2/logs', '/v2/publish/{proxy+}']));
    for (const path of ['/v2/logs/{proxy+}', '/v2/publish', '/v2/wait', '/v2/health/{proxy+}'])
      expect(paths).not.toContain(path);
  });
});

describe('the prefix before the API’s path', () => {
  it.each([
    ['/v2/queues', ''],
    ['/api//v2/queues', '/api'],
  ])('of %s is %j', (path, expected) => {
    expect(basePathOf(path)).toBe(expected);
  });
});
