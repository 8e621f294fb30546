import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { newAccount } from '../../../lambdas/account/account.ts';
import { longestTimeoutSeconds } from '../../../lambdas/aws/resources.ts';
import {
  accountRecord,
  parseAccountInput,
  withFields,
} from '../../../lambdas/management/rules/accountFields.ts';
import { parseFilter, type List } from '../../../lambdas/wire/filters.ts';
import { HttpError } from '../../../lambdas/error/httpError.ts';
import { limitNames, limitTable } from '../../../lambdas/value/limits.ts';
import { describedPath, type DescribedOperation } from '../../../lambdas/http/openapi/document.ts';
import { accountId } from '../../../lambdas/http/openapi/parts/examples.ts';
import { dueParameters, type Parameter } from '../../../lambdas/http/openapi/parts/parameters.ts';
import { componentSchemas } from '../../../lambdas/http/openapi/parts/schemas.ts';
import { managementRoutes, routes, type Route } from '../../../lambdas/http/routes.ts';
import {
  checkAnswer,
  checkerOf,
  document,
  errorsOf,
  managementDocument,
  resolve,
  responseOf,
  type Document,
} from '../../support/contract.ts';

const plainOf = (within: Document) =>
  z.record(z.string(), z.unknown()).parse(JSON.parse(JSON.stringify(within)));

function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const inner of Object.values(value)) yield* objectsIn(inner);
}

const operationsOf = (within: Document) =>
  Object.entries(within.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      operation,
    })),
  );

const parameterShape = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  schema: z.unknown(),
  example: z.optional(z.unknown()),
});
const linkedShape = z.object({
  content: z.record(z.string(), z.object({ example: z.optional(z.unknown()) })),
  links: z.optional(
    z.record(z.string(), z.object({ operationId: z.string(), parameters: z.record(z.string(), z.string()) })),
  ),
});

function valueAt(expression: string, operation: DescribedOperation, answer: unknown): unknown {
  const [, inPath] = /^\$request\.path\.(\w+)$/.exec(expression) ?? [];
  if (inPath !== undefined) {
    const parameters = operation.parameters.map((one) => parameterShape.parse(resolve(one)));
    return parameters.find((one) => one.in === 'path' && one.name === inPath)?.example;
  }
  const [, place, pointer = ''] = /^\$(request|response)\.body#((?:\/\w+)+)$/.exec(expression) ?? [];
  const body = place === 'response' ? answer : operation.requestBody?.content['application/json']?.example;
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null
          ? Object.entries(value).find(([name]) => name === key)?.[1]
          : undefined,
      body,
    );
}

const headersShape = z.object({ headers: z.optional(z.record(z.string(), z.unknown())) });

const headersOf = (within: Document, method: string, path: string, status: number): readonly string[] => {
  const answer = within.paths[path]?.[method]?.responses[status];
  return Object.keys(headersShape.parse(resolve(answer, within)).headers ?? {});
};

const expectMatch = (within: Document, schema: unknown, value: unknown): void => {
  const { success, error } = z.safeParse(checkerOf(schema, within), value);
  expect(success ? '' : z.prettifyError(error)).toBe('');
};

describe.each<[api: string, within: Document, table: readonly Route[]]>([
  ['messaging', document, routes],
  ['management', managementDocument, managementRoutes],
])('the description of the %s API', (_api, within, table) => {
  const plain = plainOf(within);
  const operations = operationsOf(within);
  const references = [...objectsIn(plain)].flatMap((object) =>
    '$ref' in object && typeof object.$ref === 'string' ? [object.$ref] : [],
  );

  it('is a valid OpenAPI 3.1 document', async () => {
    expect(within.openapi).toMatch(/^3\.1\./);
    expect(await new Validator().validate(plain)).toEqual({ valid: true });
  });

  it('has exactly the routes of the table', () => {
    const described = operations.map(({ name }) => name);
    expect(described.sort()).toEqual(
      table.map(({ method, path }) => `${method} ${describedPath(path)}`).sort(),
    );
  });

  it('refers only to existing parts, and has no unused ones', () => {
    for (const $ref of references) expect(resolve({ $ref }, within), $ref).toBeDefined();
    const { schemas, parameters, headers, responses } = within.components;
    const defined = Object.entries({ schemas, parameters, headers, responses }).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `#/components/${kind}/${name}`),
    );
    expect(defined.filter((one) => !references.includes(one))).toEqual([]);
  });

  it('names each operation once, under a described tag', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = within.tags.map(({ name }) => name);
    expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(new Set(tags));
  });

  it('links each answer to existing operations, with their parameters', () => {
    const byId = new Map(operations.map(({ operation }) => [operation.operationId, operation]));
    const followed = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap((answer) => {
        const { links = {}, content } = linkedShape.parse(resolve(answer, within));
        return Object.values(links).map((link) => {
          const named = byId.get(link.operationId)?.parameters ?? [];
          const names = named.map((one) => parameterShape.parse(resolve(one, within)).name);
          expect(names, link.operationId).toEqual(expect.arrayContaining(Object.keys(link.parameters)));
          for (const expression of Object.values(link.parameters)) {
            const value = valueAt(expression, operation, content['application/json']?.example);
            expect(typeof value, `${operation.operationId}: ${expression}`).toBe('string');
          }
          return link.operationId;
        });
      }),
    );
    expect(followed.length).toBeGreaterThan(0);
  });

  it('has no two paths that differ only in the names of their variables', () => {
    const forms = Object.keys(within.paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(new Set(forms).size).toBe(forms.length);
  });

  it.each(operations)('gives $name the parameters of its path, without duplicates', ({ path, operation }) => {
    const parameters = operation.parameters.map((one) => parameterShape.parse(resolve(one, within)));
    const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
    expect(inPath.sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort());
    const names = parameters.map((one) => `${one.in} ${one.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('requires a token or credentials where the route table does', () => {
    const schemes = Object.keys(within.components.securitySchemes);
    for (const { method, path, access } of table) {
      const operation = within.paths[describedPath(path)]?.[method.toLowerCase()];
      const expected = access === 'open' ? [] : schemes.map((name) => ({ [name]: [] }));
      expect(operation?.security, path).toEqual(expected);
      const statuses = Object.keys(operation?.responses ?? {});
      expect(statuses.includes('401'), path).toBe(access !== 'open');
      expect(statuses).toEqual(expect.arrayContaining(access === 'write' ? ['403', '429'] : ['429']));
    }
  });

  it.each(operations)(
    'has examples of the answers of $name that match their schemas',
    ({ name, operation }) => {
      const route = table.find(({ method, path }) => name === `${method} ${describedPath(path)}`);
      for (const status of Object.keys(operation.responses)) {
        const shown = responseOf(`${route?.method ?? ''} ${route?.path ?? ''}`, Number(status));
        const examples = [shown.example, ...Object.values(shown.examples ?? {}).map(({ value }) => value)];
        const given = examples.filter((one) => one !== undefined);
        expect(given.length, status).toBeGreaterThan(0);
        for (const one of given) expectMatch(within, shown.schema, one);
      }
    },
  );

  it('has examples of bodies that match their schemas', () => {
    for (const { operation } of operations) {
      for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) {
        if (schema !== undefined) expectMatch(within, schema, example);
      }
    }
  });

  it('has examples of parameters that match their schemas', () => {
    const shared: readonly Parameter[] = Object.values(within.components.parameters);
    const own = operations.flatMap(({ operation }) =>
      operation.parameters.filter((one) => 'name' in one).map((one) => parameterShape.parse(one)),
    );
    for (const { schema, example, name } of [...shared, ...own]) {
      expect(example === undefined, name).toBe(name === 'cursor');
      if (example !== undefined) expectMatch(within, schema, example);
    }
  });
});

describe('the two descriptions', () => {
  it('have every shape between them, and share only errors, named tokens and descriptions', () => {
    const [ofMessaging, ofManagement] = [document, managementDocument].map(({ components }) =>
      Object.keys(components.schemas),
    );
    expect(new Set([...(ofMessaging ?? []), ...(ofManagement ?? [])])).toEqual(
      new Set(Object.keys(componentSchemas())),
    );
    expect(ofMessaging?.filter((name) => ofManagement?.includes(name))).toEqual([
      'Error',
      'RotatedToken',
      'NamedToken',
      'NamedTokens',
      'MadeToken',
      'Description',
    ]);
    expect(JSON.stringify(document)).not.toMatch(/read_only_token|"\/v2\/\{brand\}/);
  });
});

describe('the described limits', () => {
  const burst = ['Burst-RateLimit-Limit', 'Burst-RateLimit-Remaining', 'Burst-RateLimit-Reset'];
  const daily = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

  it.each<[method: string, path: string, within: Document, headers: readonly string[]]>([
    ['get', '/v2/health', document, []],
    ['get', '/v2/keys', document, burst],
    ['post', '/v2/topics/{name}/endpoints', document, burst],
    ['post', '/v2/schedules/{schedule}', document, burst],
    ['post', '/v2/publish/{destination}', document, [...burst, ...daily]],
    ['post', '/v2/enqueue/{queueName}/{destination}', document, [...burst, ...daily]],
    // Each of its messages is refused separately, within an answer of 200.
    ['post', '/v2/batch', document, burst],
    ['post', '/v2/dlq/retry', document, [...burst, ...daily]],
    ['post', '/v2/dlq/retry/{dlqId}', document, [...burst, ...daily]],
    ['get', '/v2/{brand}/users', managementDocument, []],
  ])('of %s %s have the headers that tell when to go on', (method, path, within, headers) => {
    expect(headersOf(within, method, path, 429)).toEqual(['Retry-After', ...headers, 'Link']);
    const refused = within.paths[path]?.[method]?.responses[412];
    const mayCost = JSON.stringify(resolve(refused, within) ?? '').includes("The account's budget is");
    expect(mayCost).toBe(headers.includes('RateLimit-Limit'));
  });

  it('report in every answer to a token that the soft limit is exceeded', () => {
    expect(headersOf(document, 'post', '/v2/publish/{destination}', 202)).toEqual(['Svc-Soft-Limit']);
    expect(headersOf(document, 'get', '/v2/keys', 200)).toEqual(['Svc-Soft-Limit']);
    expect(headersOf(document, 'get', '/v2/health', 200)).toEqual([]);
    expect(headersOf(managementDocument, 'get', '/v2/{brand}/users', 200)).toEqual(['Link']);
  });
});

/** Every settable field of an account. */
const everyField = {
  customer_id: 'ops@example.com',
  created_by: 'ops@example.com',
  type: 'paid',
  region: 'us-east-1',
  active: false,
  state: 'passive',
  budget: 50,
  reserved_type: 'enterprise:acme',
  reserved_price: 180,
  prod_pack_enabled: true,
  prometheus_enabled: 'true',
  enterprise: { enabled: true },
  circuit: { enabled: true, failures: 10, open_seconds: 5 },
  destinations: ['arn:aws:sqs:*:123456789012:orders-*'],
  lambda_destinations: ['arn:aws:lambda:*:123456789012:function:orders-*'],
  tls_identities: [{ host: 'hooks.example.com', ca: 'private', identity: 'acme' }],
  fail_on: '400-499,!429',
  failure_callback: 'https://me:secret@example.com/failed',
  ...Object.fromEntries(limitNames.map((name) => [name, limitTable[name].most])),
};

describe('the described accounts', () => {
  const time = Date.UTC(2026, 0, 1);
  const fresh = newAccount({ id: accountId, plan: 'free', region: 'eu-central-1', createdAt: time });
  const secret = { current: 'a master secret of some length, or more' };
  const shown = (account: typeof fresh): unknown =>
    JSON.parse(JSON.stringify(accountRecord(account, secret, time)));

  it('match the service’s, with every settable field', () => {
    const { AccountChange } = managementDocument.components.schemas;
    const described = z.object({ properties: z.record(z.string(), z.unknown()) }).parse(AccountChange);
    expect(Object.keys(described.properties).sort()).toEqual(Object.keys(everyField).sort());
    const full = withFields(
      fresh,
      parseAccountInput(everyField, {
        regions: ['eu-central-1', 'us-east-1'],
        longestTimeoutSeconds: longestTimeoutSeconds.machine,
      }),
      time + 1,
    );
    for (const account of [fresh, full]) {
      checkAnswer('GET /v2/{brand}/users/{id}', { status: 200, json: shown(account) });
    }
  });

  it.each<[body: unknown]>([
    [[]],
    [{ colour: 'red' }],
    [{ timeout: 900 }],
    [{ active: true, state: 'passive' }],
    [{ max_requests_per_day_hard: 500 }],
    [{ failure_callback: 'ftp://example.com' }],
  ])('are refused with the sentences that are shown: %j', (body) => {
    let sentence = '';
    try {
      withFields(
        fresh,
        parseAccountInput(body, {
          regions: ['eu-central-1'],
          longestTimeoutSeconds: longestTimeoutSeconds.functions,
        }),
        time,
      );
    } catch (error) {
      sentence = error instanceof HttpError ? error.message : '';
    }
    for (const operation of ['POST /v2/{brand}/users', 'PATCH /v2/{brand}/users/{id}']) {
      expect(errorsOf(operation, 400)).toContain(sentence);
    }
  });
});

describe('the described filters', () => {
  it.each<[operation: string, method: string, list: List]>([
    ['/v2/messages', 'get', 'listedMessages'],
    ['/v2/messages', 'delete', 'messages'],
    ['/v2/logs', 'get', 'logs'],
    ['/v2/dlq', 'get', 'listedDlq'],
  ])('of %s are those that its parser knows', (path, method, list) => {
    const described = (document.paths[path]?.[method]?.parameters ?? [])
      .map((one) =>
        z
          .object({ name: z.string(), example: z.optional(z.unknown()), deprecated: z.optional(z.boolean()) })
          .parse(resolve(one)),
      )
      .filter(({ name }) => name !== 'background');
    // The parameters of a list by due time are only allowed together.
    const together = new Set(Object.keys(dueParameters));
    for (const one of described) {
      const given = together.has(one.name) ? described.filter(({ name }) => together.has(name)) : [one];
      const query = given.map(({ name, example = 'c' }) => [name, String(example)] as const);
      expect(() => parseFilter(list, query), one.name).not.toThrow();
    }
    const refusal = (): unknown => parseFilter(list, [['colour', 'red']]);
    expect(refusal).toThrow(HttpError);
    const names = described.filter(({ deprecated }) => deprecated !== true).map(({ name }) => name);
    expect(refusal).toThrow(`known are ${names.join(', ')}.`);
  });
});

it('docs/api.md lists every operation of both, with its summary', () => {
  const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  // A row has a path and its methods: `GET` Get a queue; `PUT`, `PATCH` Change a queue. A suffix continues the path: `POST
  // /pause` Pause a queue.
  const rows = [...text.matchAll(/^\| `(\/[^`]+)`\s*\| (.*?)\s*\|$/gm)].flatMap(([, path = '', cell = '']) =>
    cell.split('; ').flatMap((part) => {
      const [, methods = '', summary = ''] = /^((?:`[A-Z]+(?: \/[^`]+)?`(?:, )?)+) (.+)$/.exec(part) ?? [];
      return [...methods.matchAll(/`([A-Z]+) ?([^`]*)`/g)].map(
        ([, method = '', rest = '']) => `${method} ${path}${rest}: ${summary.replace('this method', method)}`,
      );
    }),
  );
  expect(rows.sort()).toEqual(
    [document, managementDocument]
      .flatMap(operationsOf)
      .map(({ name, operation }) => `${name}: ${operation.summary}`)
      .sort(),
  );
});
