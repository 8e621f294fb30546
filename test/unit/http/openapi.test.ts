import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { parseFilter, type List } from '../../../lambdas/domain/filters.ts';
import { HttpError } from '../../../lambdas/domain/httpError.ts';
import { describedPath } from '../../../lambdas/http/openapi/document.ts';
import type { Parameter } from '../../../lambdas/http/openapi/parameters.ts';
import { routes } from '../../../lambdas/http/routes.ts';
import { checkerOf, document, resolve, responseOf } from '../../support/contract.ts';

const plain = z.record(z.string(), z.unknown()).parse(JSON.parse(JSON.stringify(document)));

/** Every object of the document, with the place where it stands. */
function* objectsIn(value: unknown, place = '#'): Generator<readonly [place: string, object]> {
  if (typeof value !== 'object' || value === null) return;
  yield [place, value];
  for (const [key, inner] of Object.entries(value)) yield* objectsIn(inner, `${place}/${key}`);
}

const references = [...objectsIn(plain)].flatMap(([, object]) =>
  '$ref' in object && typeof object.$ref === 'string' ? [object.$ref] : [],
);

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    operation,
  })),
);

const parameterShape = z.object({ name: z.string(), in: z.enum(['path', 'query', 'header']) });

const expectMatch = (schema: unknown, value: unknown): void => {
  const { success, error } = z.safeParse(checkerOf(schema), value);
  expect(success ? '' : z.prettifyError(error)).toBe('');
};

describe('the API’s description', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(await new Validator().validate(plain)).toEqual({ valid: true });
  });

  it('has every route of the table, and no other', () => {
    const described = operations.map(({ name }) => name);
    expect(described.sort()).toEqual(
      routes.map(({ method, path }) => `${method} ${describedPath(path)}`).sort(),
    );
  });

  it('refers only to what is there, and has nothing that nobody refers to', () => {
    for (const $ref of references) expect(resolve({ $ref }), $ref).toBeDefined();
    const { schemas, parameters, responses } = document.components;
    const defined = Object.entries({ schemas, parameters, responses }).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `#/components/${kind}/${name}`),
    );
    expect(defined.filter((one) => !references.includes(one))).toEqual([]);
  });

  it('names each operation once, under a tag that it explains', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = document.tags.map(({ name }) => name);
    expect(new Set(operations.flatMap(({ operation }) => operation.tags))).toEqual(new Set(tags));
  });

  it('has no two paths that differ in the names of their variables only', () => {
    const forms = Object.keys(document.paths).map((path) => path.replace(/\{\w+\}/g, '{}'));
    expect(new Set(forms).size).toBe(forms.length);
  });

  it.each(operations)(
    'gives $name the parameters of its path, and no parameter twice',
    ({ path, operation }) => {
      const parameters = operation.parameters.map((one) => parameterShape.parse(resolve(one)));
      const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      expect(inPath.sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort());
      const names = parameters.map((one) => `${one.in} ${one.name}`);
      expect(new Set(names).size).toBe(names.length);
    },
  );

  it('asks for a token wherever the route table does', () => {
    for (const { method, path, access } of routes) {
      const operation = document.paths[describedPath(path)]?.[method.toLowerCase()];
      expect(operation?.security.length === 0, path).toBe(access === 'open');
      const statuses = Object.keys(operation?.responses ?? {});
      expect(statuses.includes('401'), path).toBe(access !== 'open');
      expect(statuses).toEqual(expect.arrayContaining(access === 'write' ? ['403', '429'] : ['429']));
    }
  });
});

describe('the description’s examples', () => {
  it.each(operations)('of the answers of $name are as described', ({ name, operation }) => {
    const route = routes.find(({ method, path }) => name === `${method} ${describedPath(path)}`);
    for (const status of Object.keys(operation.responses)) {
      const shown = responseOf(`${route?.method ?? ''} ${route?.path ?? ''}`, Number(status));
      const examples = [shown.example, ...Object.values(shown.examples ?? {}).map(({ value }) => value)];
      const given = examples.filter((one) => one !== undefined);
      expect(given.length, status).toBeGreaterThan(0);
      for (const one of given) expectMatch(shown.schema, one);
    }
  });

  it('of bodies are as described', () => {
    for (const { operation } of operations) {
      for (const { schema, example } of Object.values(operation.requestBody?.content ?? {})) {
        if (schema !== undefined) expectMatch(schema, example);
      }
    }
  });

  it('of parameters are as described', () => {
    const parameters: readonly Parameter[] = Object.values(document.components.parameters);
    for (const { schema, example, name } of parameters) {
      expect(example === undefined, name).toBe(name === 'cursor');
      if (example !== undefined) expectMatch(schema, example);
    }
  });
});

describe('the described filters', () => {
  it.each<[operation: string, method: string, list: List]>([
    ['/v2/messages', 'delete', 'messages'],
    ['/v2/logs', 'get', 'logs'],
    ['/v2/dlq', 'get', 'dlq'],
  ])('of %s are those that its parser knows', (path, method, list) => {
    const described = (document.paths[path]?.[method]?.parameters ?? []).map((one) =>
      z
        .object({ name: z.string(), example: z.optional(z.unknown()), deprecated: z.optional(z.boolean()) })
        .parse(resolve(one)),
    );
    for (const { name, example = 'c' } of described) {
      expect(() => parseFilter(list, [[name, String(example)]]), name).not.toThrow();
    }
    const refusal = (): unknown => parseFilter(list, [['colour', 'red']]);
    expect(refusal).toThrow(HttpError);
    const names = described.filter(({ deprecated }) => deprecated !== true).map(({ name }) => name);
    expect(refusal).toThrow(`known are ${names.join(', ')}.`);
  });
});

it('docs/api.md has every operation, with its summary', () => {
  const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([A-Z]+ [^`]+)`\s*\| (.*?)\s*\|$/gm)].map(
    ([, name = '', summary = '']) => `${name}: ${summary}`,
  );
  expect(rows.sort()).toEqual(
    operations.map(({ name, operation }) => `${name}: ${operation.summary}`).sort(),
  );
});
