/**
 * The API's description, made from what answers requests: the route table, the tables of configuration and filters, the
 * shapes of bodies. A route is described by an entry in `operations/`, without which nothing compiles.
 */
import manifest from '../../../package.json' with { type: 'json' };
import { routes, type ApiFunction, type Route } from '../routes.ts';
import { errorResponses, sharedErrorResponses, type ErrorResponse } from './errors.ts';
import { tags, type Operation, type Operations } from './operation.ts';
import { description } from './operations/description.ts';
import { dlq } from './operations/dlq.ts';
import { logs } from './operations/logs.ts';
import { messages } from './operations/messages.ts';
import { publish } from './operations/publish.ts';
import { schedules } from './operations/schedules.ts';
import { topics } from './operations/topics.ts';
import {
  configurationParameters,
  filterParameters,
  type Parameter,
  type NamedParameters,
} from './parameters.ts';
import { componentSchemas, schemaOf, type Reference, type SchemaName } from './schemas.ts';

const byFunction: { readonly [F in ApiFunction]: Operations<F> } = {
  publish,
  messages,
  logs,
  topics,
  dlq,
  schedules,
  description,
};

const entries: readonly Readonly<Record<string, Operation>>[] = Object.values(byFunction);
const operations = new Map(entries.flatMap((some) => Object.entries(some)));

interface Media {
  readonly schema?: Reference;
  readonly example?: unknown;
}

interface Body {
  readonly description?: string;
  readonly required?: boolean;
  readonly content: Readonly<Record<string, Media>>;
}

/** An operation object of OpenAPI. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: true;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body | ErrorResponse | Reference>>;
}

const about = `A message queue with HTTP delivery.

Every configuration header \`Svc-…\` may also be given as a query parameter named in lower case (\`svc-retries=3\`); the header wins. A name that ends in \`*\` stands for all names that begin so. A deployment may accept more prefixes, which mean the same.

Every refusal is \`{"error": "<a sentence>"}\`. A path that does not exist is answered with 404, one that exists with another method with 405 and the header \`Allow\`. After a 5xx nothing is half-done; send the request again.`;

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'The account’s token; where nothing is changed, its read-only token will do.',
  },
  queryToken: {
    type: 'apiKey',
    in: 'query',
    name: 'svc_token',
    description: 'The same, for senders that can set nothing but the URL.',
  },
} as const;

const security: DescribedOperation['security'] = [{ token: [] }, { queryToken: [] }];

const json = ({ schema, example }: { readonly schema: SchemaName; readonly example: unknown }) => ({
  'application/json': { schema: schemaOf(schema), example },
});

/** Whatever stands in the body is the message; its type is the sender's business. */
const bytes: Body = {
  description: 'The message.',
  required: false,
  content: { '*/*': {}, 'application/json': { example: { order: 4711 } } },
};

function bodyOf({ body }: Operation): Body | undefined {
  if (body === undefined || body === 'bytes') return body && bytes;
  return { required: body.required, content: json(body) };
}

function pathParameters(operation: Operation): readonly Parameter[] {
  return Object.entries(operation.variables).map(([name, variable]) => ({
    name,
    in: 'path',
    required: true,
    ...variable,
  }));
}

/** Those that several operations share: each is described once, and referred to. */
const sharedParameters = ({ configuration, filters }: Operation): NamedParameters => ({
  ...(filters && filterParameters(filters)),
  ...(configuration && configurationParameters(configuration)),
});

function describe(route: Route, operation: Operation): DescribedOperation {
  const requestBody = bodyOf(operation);
  const answers = Object.entries(operation.answers).map(
    ([status, { description: text, ...answer }]) =>
      [status, { description: text, content: json(answer) }] as const,
  );
  const refusals = errorResponses(operation.errors ?? {}, {
    access: route.access,
    hasVariables: /\{\w+\}/.test(route.path),
    hasBody: requestBody !== undefined,
  });
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    ...(operation.deprecated && { deprecated: true }),
    security: route.access === 'open' ? [] : security,
    parameters: [
      ...pathParameters(operation),
      ...Object.keys(sharedParameters(operation)).map((name) => ({
        $ref: `#/components/parameters/${name}`,
      })),
    ],
    ...(requestBody && { requestBody }),
    responses: { ...Object.fromEntries(answers), ...refusals },
  };
}

/** The path of a route as OpenAPI writes it: it knows no variables that hold the rest of a path. */
export const describedPath = (path: string): string => path.replace('+}', '}');

/** The whole API as an OpenAPI 3.1 document. */
export function describeApi() {
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  let parameters: NamedParameters = {};
  for (const route of routes) {
    const operation = operations.get(`${route.method} ${route.path}`);
    if (operation === undefined) throw new Error(`${route.method} ${route.path} is not described.`);
    const path = (paths[describedPath(route.path)] ??= {});
    path[route.method.toLowerCase()] = describe(route, operation);
    parameters = { ...parameters, ...sharedParameters(operation) };
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Svc Queue', version: manifest.version, description: about },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      schemas: componentSchemas(),
      parameters,
      responses: sharedErrorResponses(),
      securitySchemes,
    },
  };
}
