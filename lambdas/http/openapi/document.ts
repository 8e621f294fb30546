/**
 * The APIs' descriptions, made from the tables that answer requests. A route without an entry in `operations/` does not
 * compile.
 */
import manifest from '../../../package.json' with { type: 'json' };
import { bulkOperationOf } from '../route.ts';
import { managementRoutes, routes, type Route } from '../routes.ts';
import { inBackground } from './parts/background.ts';
import { refusalsOf, takesToken, type ErrorResponse } from './parts/errors.ts';
import { softLimit, softLimitName, type Header } from './parts/headers.ts';
import { linksOf, type Link } from './parts/links.ts';
import { tags, type Json, type Operation, type Text } from './parts/operation.ts';
import {
  configurationParameters,
  filterParameters,
  uncounted,
  type Parameter,
  type NamedParameters,
} from './parts/parameters.ts';
import { schemaOf, schemasIn, type Reference, type SchemaName } from './parts/schemas.ts';
import { variablesOf } from './parts/variables.ts';
import { byFunction } from './operations.ts';

const entries: readonly Readonly<Record<string, Operation>>[] = Object.values(byFunction);
const operations = new Map(entries.flatMap((some) => Object.entries(some)));

interface Media {
  readonly schema?: Reference | { readonly type: 'string' };
  readonly example?: unknown;
}

interface RequestBody {
  readonly description?: string;
  readonly required: boolean;
  readonly content: Readonly<Record<string, Media>>;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content: Readonly<Record<string, Media>>;
  readonly links?: Readonly<Record<string, Link>>;
}

type Security = readonly Readonly<Record<string, readonly string[]>>[];

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: true;
  readonly security: Security;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | ErrorResponse | Reference>>;
}

interface Api {
  readonly title: string;
  readonly version: string;
  /** Markdown. */
  readonly about: string;
  readonly routes: readonly Route[];
  readonly securitySchemes: Readonly<Record<string, object>>;
}

const refusals =
  'Every refusal is `{"error": "<a sentence>", "code": "<a word>"}`: the sentence is for people, the code for programs. An unknown path is answered with 404, and an unknown method of a known path with 405 and the header `Allow`. After a 5xx nothing is half-done; send the request again.';

const messaging: Api = {
  title: 'Svc Queue',
  version: manifest.version,
  about: `A message queue with HTTP delivery.

Every configuration header \`Svc-…\` may also be given as a query parameter named in lower case (\`svc-retries=3\`); the header takes precedence. A name that ends in \`*\` means all names that begin with the rest. A deployment may accept more prefixes, with the same meaning.

${refusals}`,
  routes,
  securitySchemes: {
    token: {
      type: 'http',
      scheme: 'bearer',
      description: 'The account’s token. Its read-only token is enough if the operation changes nothing.',
    },
    queryToken: {
      type: 'apiKey',
      in: 'query',
      name: 'svc_token',
      description: 'The same, for clients that can only set the URL.',
    },
  },
};

const management: Api = {
  title: 'Svc Account Management',
  version: '1.0.0',
  about: `The accounts of a message queue with HTTP delivery, as its operator manages them.

${refusals}`,
  routes: managementRoutes,
  securitySchemes: {
    operator: {
      type: 'http',
      scheme: 'basic',
      description: 'The user name and the password, from the deployment’s secret.',
    },
  },
};

const json = ({ schema, example }: { readonly schema: SchemaName; readonly example: unknown }) => ({
  'application/json': { schema: schemaOf(schema), example },
});

/** An answer is JSON unless it names another type. */
const contentOf = (answer: Pick<Json, 'schema' | 'example'> | Text): Readonly<Record<string, Media>> =>
  'type' in answer
    ? { [answer.type]: { schema: { type: 'string' }, example: answer.example } }
    : json(answer);

const bytes = (description: string): RequestBody => ({
  description,
  required: false,
  content: { '*/*': {}, 'application/json': { example: { order: 4711 } } },
});

function bodyOf({ body }: Operation): RequestBody | undefined {
  if (body === undefined) return undefined;
  if (body === 'bytes') return bytes('The message.');
  if ('bytes' in body) return bytes(body.bytes);
  return { required: body.required, content: json(body) };
}

function ownParameters({ path }: Route, { query = {} }: Operation): readonly Parameter[] {
  return [
    ...variablesOf(path).map(([name, one]) => ({
      name,
      in: 'path' as const,
      required: true as const,
      ...one,
    })),
    ...Object.entries(query).map(([name, one]) => ({ name, in: 'query' as const, ...one })),
  ];
}

/** Parameters that several operations share. Each is described once and referred to. */
const sharedParameters = ({ configuration, filters, counts, shared }: Operation): NamedParameters => ({
  ...shared,
  ...(filters && filterParameters(filters)),
  ...(counts && uncounted(filterParameters(counts))),
  ...(configuration && configurationParameters(configuration)),
});

const refusalsTo = (route: Route, operation: Operation) =>
  refusalsOf(operation.errors ?? {}, {
    access: route.access,
    hasVariables: /\{\w+\}/.test(route.path),
    hasBody: operation.body !== undefined,
    isHeldToUsage: operation.isHeldToUsage === true,
  });

const referenceTo = (kind: 'parameters' | 'responses' | 'headers', name: string): Reference => ({
  $ref: `#/components/${kind}/${name}`,
});

const countedHeaders = { [softLimitName]: referenceTo('headers', softLimitName) };

function responsesOf(route: Route, operation: Operation): DescribedOperation['responses'] {
  const answers = Object.entries(operation.answers).map(
    ([status, { description: text, headers: own, ...answer }]): readonly [string, Response] => {
      const headers = { ...own, ...(takesToken(route) && countedHeaders) };
      const described = Object.keys(headers).length > 0 && { headers };
      const links = status === '202' ? {} : linksOf(operation.id);
      return [
        status,
        {
          description: text,
          ...described,
          content: contentOf(answer),
          ...(Object.keys(links).length > 0 && { links }),
        },
      ];
    },
  );
  const refused = refusalsTo(route, operation).map(
    ({ status, name, response }) =>
      [status, name === undefined ? response : referenceTo('responses', name)] as const,
  );
  return { ...Object.fromEntries(answers), ...Object.fromEntries(refused) };
}

function tagOf({ name, path }: Route): string {
  const found = tags.find(([, , paths]) => paths.test(path));
  if (found === undefined) throw new Error(`${name} has no tag.`);
  return found[0];
}

function describe(route: Route, operation: Operation, security: Security): DescribedOperation {
  const requestBody = bodyOf(operation);
  return {
    operationId: operation.id,
    tags: [tagOf(route)],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    ...(operation.deprecated && { deprecated: true }),
    security: route.access === 'open' ? [] : security,
    parameters: [
      ...ownParameters(route, operation),
      ...Object.keys(sharedParameters(operation)).map((name) => referenceTo('parameters', name)),
    ],
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, operation),
  };
}

/** OpenAPI has no variables for the rest of a path. */
export const describedPath = (path: string): string => path.replace('+}', '}');

function documentOf(api: Api, basePath: string) {
  const security = Object.keys(api.securitySchemes).map((name) => ({ [name]: [] }));
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  const used = new Set<string>();
  let parameters: NamedParameters = {};
  const responses: Record<string, ErrorResponse> = {};
  for (const route of api.routes) {
    const own = operations.get(route.name);
    if (own === undefined) throw new Error(`${route.name} is not described.`);
    const operation = bulkOperationOf(route) === undefined ? own : inBackground(own);
    const path = (paths[describedPath(route.path)] ??= {});
    path[route.method.toLowerCase()] = describe(route, operation, security);
    used.add(tagOf(route));
    parameters = { ...parameters, ...sharedParameters(operation) };
    for (const { name, response } of refusalsTo(route, operation)) {
      if (name !== undefined) responses[name] = response;
    }
  }
  const headers: Readonly<Record<string, Header>> = api.routes.some(takesToken)
    ? { [softLimitName]: softLimit }
    : {};
  return {
    openapi: '3.1.1',
    info: { title: api.title, version: api.version, description: api.about },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    tags: tags.flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : [])),
    paths,
    components: {
      schemas: schemasIn({ paths, responses }),
      parameters,
      headers,
      responses,
      securitySchemes: api.securitySchemes,
    },
  };
}

/** @param basePath the path before the version segment, such as a stage's name */
export const describeApi = (basePath = '') => documentOf(messaging, basePath);

export const describeManagementApi = (basePath = '') => documentOf(management, basePath);
