/**
 * Makes a REST API from a table of routes. It is a REST API and not an HTTP API, because an HTTP API decodes the path, and a
 * destination stands in the path as the client wrote it.
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
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type ApiFunction, gatewayPath, isShared, type Route } from '../../lambdas/http/routes.ts';
import { apiFunctionTimeoutSeconds } from '../../lambdas/aws/resources.ts';
import { addGatewayAnswers, type GatewayAnswer, methodNotAllowed, refusalBody } from './gatewayAnswers.ts';
import { makeDomain } from './customDomain.ts';
import { makeFirewall } from './firewall.ts';
import { regionOfArn, valuesIn } from '../regional.ts';
import type { Settings } from '../settings.ts';

const stageName = 'api';

/** The timeout of a function that answers requests. */
export const answerTimeout = Duration.seconds(apiFunctionTimeoutSeconds);

interface ApiProps {
  readonly name: string;
  /** Its name in the setting `domains`: its region, or `management`. */
  readonly place: string;
  /** The most requests from all clients together: in a second, and at one instant. */
  readonly throttle: { readonly rate: number; readonly burst: number };
  /** Answers of the gateway that this API has besides those of every API, or in their place. */
  readonly ownAnswers?: readonly GatewayAnswer[];
  readonly settings: Settings;
}

interface RoutesProps<F extends ApiFunction> {
  readonly routes: readonly (Route & { readonly function: F })[];
  readonly functions: Readonly<Record<F, IFunction>>;
  /** Judges a request before the function of a route that only operators may call. */
  readonly authorizer?: IAuthorizer;
}

export interface MadeApi {
  readonly api: RestApi;
  /** The host that API Gateway generates. */
  readonly host: string;
  /** The base URL, without a slash at its end. */
  readonly url: string;
}

/**
 * Makes an API without its routes. {@link addRoutes} adds them later, so that functions can be told the API's host before.
 * The access log is written with the role that API Gateway has for the AWS account: see {@link makeGatewayLogRole}.
 */
export function makeApi(scope: Construct, props: ApiProps): MadeApi {
  const { place, settings } = props;
  const accessLog = new LogGroup(scope, 'ApiAccessLog', {
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const api = new RestApi(scope, 'Api', {
    restApiName: props.name,
    endpointTypes: [EndpointType.REGIONAL],
    // Every body counts as bytes, so it reaches the function as the client sent it.
    binaryMediaTypes: ['*/*'],
    cloudWatchRole: false,
    deployOptions: {
      stageName,
      throttlingRateLimit: props.throttle.rate,
      throttlingBurstLimit: props.throttle.burst,
      loggingLevel: MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
      ...(props.settings.tracing && { tracingEnabled: true }),
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: accessLogFormat(),
    },
  });
  api.node.tryRemoveChild('Endpoint'); // The CDK's own output: our URL with a slash at its end.
  addGatewayAnswers(api, props.ownAnswers);
  const { region, urlSuffix } = Stack.of(scope);
  const host = `${api.restApiId}.execute-api.${region}.${urlSuffix}`;
  const [domain] = valuesIn(settings.domains, place);
  const certificateArn = settings.certificates.find((arn) => regionOfArn(arn) === region);
  if (domain !== undefined && certificateArn !== undefined)
    makeDomain(scope, api, { name: domain, certificateArn, hostedZone: settings.hostedZone });
  if (settings.firewall) makeFirewall(scope, api, settings);
  return { api, host, url: domain === undefined ? `https://${host}/${stageName}` : `https://${domain}` };
}

/**
 * A line for each request: which client asked for what, and how it went. The path and the query are left out, because
 * destinations and tokens are in them; the template of the path stands for it.
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

/**
 * Makes the role with which API Gateway writes access logs. There is one for all APIs of an AWS account and region, so it is
 * retained when the stack goes: other APIs may use it.
 */
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

/** Adds the routes to an API, each with its function, and an answer to all other methods of their paths. */
export function addRoutes<F extends ApiFunction>(
  api: RestApi,
  { routes, functions, authorizer }: RoutesProps<F>,
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
    // Only the function knows which methods each of the paths has.
    if (known.methods.length === 1 && isShared(path)) known.resource.addMethod('ANY', integration);
    known.resource.addMethod(
      route.method,
      integration,
      route.access === 'management' && authorizer !== undefined ? { authorizer } : {},
    );
  }
  for (const [path, { resource, methods }] of resources) {
    if (!isShared(path)) addMethodNotAllowed(resource, methods);
  }
}

/** Refuses all other methods of a path. The gateway answers by itself, which costs no invocation. */
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
          responseTemplates: { 'application/json': refusalBody(methodNotAllowed) },
          responseParameters: { 'method.response.header.Allow': `'${methods.join(', ')}'` },
        },
      ],
    }),
    {
      methodResponses: [{ statusCode: status, responseParameters: { 'method.response.header.Allow': true } }],
    },
  );
}
