/**
 * A REST API, made from its routes. A REST API and not an HTTP API, because only it hands over the path
 * as the client wrote it; and every answer that it gives by itself is made to look like the service's own.
 */
import {
  AccessLogFormat,
  AccessLogField,
  CfnAccount,
  ContentHandling,
  EndpointType,
  type IAuthorizer,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  MockIntegration,
  PassthroughBehavior,
  ResponseType,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type ApiFunction, gatewayPath, type Route } from '../lambdas/http/routes.ts';
import type { Settings } from './settings.ts';

const stageName = 'api';

/** What a function has that answers an API's requests: it ends before the gateway gives up, which is after 29 s. */
export const answering = { memorySize: 512, timeout: Duration.seconds(28) } as const;

interface ApiProps<F extends ApiFunction> {
  readonly name: string;
  readonly routes: readonly (Route & { readonly function: F })[];
  readonly functions: Readonly<Record<F, IFunction>>;
  /** For all clients together: requests a second, and at one instant. */
  readonly throttle: { readonly rate: number; readonly burst: number };
  /** Asked before the function of a route that only operators may call. */
  readonly authorizer?: IAuthorizer;
  /** Besides those of every API, or in their place. */
  readonly ownAnswers?: readonly GatewayAnswer[];
  readonly settings: Settings;
}

interface MadeApi {
  readonly api: RestApi;
  readonly host: string;
  /** Without a slash at its end. */
  readonly url: string;
}

/** Its access log is written with the one role that API Gateway has for an account and region; see `makeGatewayLogRole`. */
export function makeApi<F extends ApiFunction>(scope: Construct, props: ApiProps<F>): MadeApi {
  const accessLog = new LogGroup(scope, 'ApiAccessLog', {
    retention: props.settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const api = new RestApi(scope, 'Api', {
    restApiName: props.name,
    endpointTypes: [EndpointType.REGIONAL],
    // Every body is bytes: it reaches the function as it came.
    binaryMediaTypes: ['*/*'],
    cloudWatchRole: false,
    deployOptions: {
      stageName,
      throttlingRateLimit: props.throttle.rate,
      throttlingBurstLimit: props.throttle.burst,
      loggingLevel: MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: accessLogFormat(),
    },
  });
  api.node.tryRemoveChild('Endpoint'); // The CDK's own output: the same as ours, but with a slash at its end.
  addRoutes(api, props);
  const { ownAnswers = [] } = props;
  const common = gatewayAnswers.filter(({ type }) => !ownAnswers.some((own) => own.type === type));
  for (const { type, status, sentence, headers } of [...common, ...ownAnswers]) {
    api.addGatewayResponse(type.responseType, {
      type,
      ...(status === undefined ? {} : { statusCode: status.toString() }),
      templates: { 'application/json': JSON.stringify({ error: sentence }) },
      ...(headers === undefined ? {} : { responseHeaders: headers }),
    });
  }
  const { region, urlSuffix } = Stack.of(scope);
  const host = `${api.restApiId}.execute-api.${region}.${urlSuffix}`;
  return { api, host, url: `https://${host}/${stageName}` };
}

/**
 * Which client asked for what, and how it went. The resource's template stands for the path, and the query is
 * left out: destinations and tokens are in them.
 */
function accessLogFormat(): AccessLogFormat {
  return AccessLogFormat.custom(
    JSON.stringify({
      requestId: AccessLogField.contextRequestId(),
      ip: AccessLogField.contextIdentitySourceIp(),
      time: AccessLogField.contextRequestTime(),
      method: AccessLogField.contextHttpMethod(),
      resource: AccessLogField.contextResourcePath(),
      status: AccessLogField.contextStatus(),
      latencyMs: AccessLogField.contextResponseLatency(),
      responseBytes: AccessLogField.contextResponseLength(),
    }),
  );
}

/** API Gateway keeps one such role for each account and region; what other APIs use must not end with this one. */
export function makeGatewayLogRole(scope: Construct): CfnAccount {
  const role = new Role(scope, 'ApiLogRole', {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    managedPolicies: [
      ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs'),
    ],
  });
  role.applyRemovalPolicy(RemovalPolicy.RETAIN);
  const account = new CfnAccount(scope, 'ApiLogAccount', { cloudWatchRoleArn: role.roleArn });
  account.applyRemovalPolicy(RemovalPolicy.RETAIN);
  return account;
}

function addRoutes<F extends ApiFunction>(
  api: RestApi,
  { routes, functions, authorizer }: ApiProps<F>,
): void {
  const integrations = new Map<F, LambdaIntegration>();
  const resources = new Map<string, { readonly resource: IResource; readonly methods: string[] }>();
  for (const route of routes) {
    const integration =
      integrations.get(route.function) ??
      // One permission for the whole API: a function's policy has no room for one for each method.
      new LambdaIntegration(functions[route.function], { scopePermissionToMethod: false });
    integrations.set(route.function, integration);

    const path = gatewayPath(route);
    const known = resources.get(path) ?? { resource: api.root.resourceForPath(path), methods: [] };
    resources.set(path, known);
    if (known.methods.includes(route.method)) continue;
    known.methods.push(route.method);
    known.resource.addMethod(
      route.method,
      integration,
      route.access === 'operator' && authorizer !== undefined ? { authorizer } : {},
    );
  }
  for (const { resource, methods } of resources.values()) addMethodNotAllowed(resource, methods);
}

const methodNotAllowed = 'The path exists, but not with this method.';

/** All other methods of a path. The gateway answers them by itself: they cost no invocation. */
function addMethodNotAllowed(resource: IResource, methods: readonly string[]): void {
  const status = '405';
  resource.addMethod(
    'ANY',
    new MockIntegration({
      // A template needs text, and with `*/*` as a binary type every body is bytes.
      contentHandling: ContentHandling.CONVERT_TO_TEXT,
      requestTemplates: { 'application/json': JSON.stringify({ statusCode: Number(status) }) },
      // Bodies of other types find no template and get UNSUPPORTED_MEDIA_TYPE, which is answered alike below.
      passthroughBehavior: PassthroughBehavior.NEVER,
      integrationResponses: [
        {
          statusCode: status,
          selectionPattern: status,
          responseTemplates: { 'application/json': JSON.stringify({ error: methodNotAllowed }) },
          responseParameters: { 'method.response.header.Allow': `'${methods.join(', ')}'` },
        },
      ],
    }),
    {
      methodResponses: [{ statusCode: status, responseParameters: { 'method.response.header.Allow': true } }],
    },
  );
}

export interface GatewayAnswer {
  readonly type: ResponseType;
  /** Absent: the status that the gateway would have given. */
  readonly status?: number;
  readonly sentence: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const nothingHere = 'There is nothing at this path.';
const notAllowed = 'The request is not allowed.';
const ours = 'The service could not answer this request. Send it again.';

/** Every answer that the gateway gives without asking a function. */
export const gatewayAnswers: readonly GatewayAnswer[] = [
  // No method here asks for AWS credentials, so these four can only come from a path that does not exist: an
  // `Authorization` header there is taken for an AWS signature, and a bearer token for a broken one (that case
  // has no type of its own but is DEFAULT_4XX).
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, status: 404, sentence: nothingHere },
  { type: ResponseType.INVALID_SIGNATURE, status: 404, sentence: nothingHere },
  { type: ResponseType.EXPIRED_TOKEN, status: 404, sentence: nothingHere },
  { type: ResponseType.DEFAULT_4XX, status: 404, sentence: nothingHere },
  { type: ResponseType.RESOURCE_NOT_FOUND, status: 404, sentence: nothingHere },
  {
    type: ResponseType.BAD_REQUEST_PARAMETERS,
    status: 400,
    sentence: 'The parameters of the request are not valid.',
  },
  { type: ResponseType.BAD_REQUEST_BODY, status: 400, sentence: 'The body of the request is not valid.' },
  { type: ResponseType.UNAUTHORIZED, status: 401, sentence: notAllowed },
  { type: ResponseType.INVALID_API_KEY, status: 403, sentence: notAllowed },
  { type: ResponseType.ACCESS_DENIED, status: 403, sentence: notAllowed },
  { type: ResponseType.WAF_FILTERED, status: 403, sentence: 'The request was refused by the firewall.' },
  // Only the mock integration above looks at a body's type.
  { type: ResponseType.UNSUPPORTED_MEDIA_TYPE, status: 405, sentence: methodNotAllowed },
  {
    type: ResponseType.REQUEST_TOO_LARGE,
    status: 413,
    sentence: 'The body is too large: this service takes at most 4194304 bytes.',
  },
  {
    type: ResponseType.THROTTLED,
    status: 429,
    sentence: 'The service gets more requests than it may take at once. Send this one again after a second.',
    headers: { 'Retry-After': "'1'" },
  },
  { type: ResponseType.QUOTA_EXCEEDED, status: 429, sentence: 'The quota of requests is used up.' },
  { type: ResponseType.INTEGRATION_FAILURE, status: 502, sentence: ours },
  {
    type: ResponseType.INTEGRATION_TIMEOUT,
    status: 504,
    sentence: 'The service did not answer in time. Send the request again.',
  },
  { type: ResponseType.API_CONFIGURATION_ERROR, status: 500, sentence: ours },
  { type: ResponseType.AUTHORIZER_CONFIGURATION_ERROR, status: 500, sentence: ours },
  { type: ResponseType.AUTHORIZER_FAILURE, status: 500, sentence: ours },
  { type: ResponseType.DEFAULT_5XX, sentence: ours },
];
