/**
 * Makes a REST API from a table of routes. It is a REST API and not an HTTP API, because an HTTP API decodes the path, and a
 * destination stands in the path exactly as the client wrote it.
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
  type Method,
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
import { accept, acceptLog } from '../acknowledge.ts';
import { notTraced } from '../functions/function.ts';
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
  /** The API's name in the setting `domains`: its region, or `management`. */
  readonly place: string;
  /** The most requests of all clients together: in a second, and at one instant. */
  readonly throttle: { readonly rate: number; readonly burst: number };
  /** Answers of the gateway that this API has besides those of every API, or in their place. */
  readonly ownAnswers?: readonly GatewayAnswer[];
  readonly settings: Settings;
}

interface RoutesProps<F extends ApiFunction> {
  readonly routes: readonly (Route & { readonly function: F })[];
  readonly functions: Readonly<Record<F, IFunction>>;
  /** Checks a request before the function of a route that only operators may call. */
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
 * Makes an API without its routes. {@link addRoutes} adds them later, so that functions can be told the API's host before. The
 * access log is written with the role that API Gateway has for the AWS account: see {@link makeGatewayLogRole}.
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
  acceptLog(accessLog);
  addGatewayAnswers(api, props.ownAnswers);
  acceptFindings(api, settings);
  const { region, urlSuffix } = Stack.of(scope);
  const host = `${api.restApiId}.execute-api.${region}.${urlSuffix}`;
  const [domain] = valuesIn(settings.domains, place);
  const certificateArn = settings.certificates.find((arn) => regionOfArn(arn) === region);
  if (domain !== undefined && certificateArn !== undefined)
    makeDomain(scope, api, { name: domain, certificateArn, hostedZone: settings.hostedZone });
  if (settings.firewall) makeFirewall(scope, api, settings);
  return { api, host, url: domain === undefined ? `https://${host}/${stageName}` : `https://${domain}` };
}

function acceptFindings(api: RestApi, { firewall, tracing }: Settings): void {
  accept(
    api,
    'AwsSolutions-APIG2',
    'The functions validate: their answers name the field and what is allowed. The gateway would have to know JSON, and every ' +
      'body counts as bytes, so that it arrives as it was sent.',
  );
  if (!firewall) {
    accept(
      api.deploymentStage,
      ['AwsSolutions-APIG3', 'NIST.800.53.R5-APIGWAssociatedWithWAF'],
      'A firewall costs $9 a month, and for each request. Throttles, tokens and limits hold without it; the setting `firewall` ' +
        'puts one before the stage.',
    );
  }
  accept(
    api.deploymentStage,
    ['AwsSolutions-APIG6', 'NIST.800.53.R5-APIGWExecutionLoggingEnabled'],
    'Execution logs have paths and queries, and so the destinations and tokens in them. The access log has a line for each ' +
      'request, without either.',
  );
  accept(
    api.deploymentStage,
    'NIST.800.53.R5-APIGWCacheEnabledAndEncrypted',
    'Answers are those of one account and of this moment: a cache would show them to others, and later.',
  );
  accept(
    api.deploymentStage,
    'NIST.800.53.R5-APIGWSSLEnabled',
    'A client certificate is for servers that anybody can call. The functions let only this API invoke them.',
  );
  if (!tracing) accept(api.deploymentStage, 'Serverless-APIGWXrayEnabled', notTraced);
}

/**
 * The format of the access log: a line for each request with its client, its operation and its result. The path and the query are
 * left out, because they have destinations and tokens; the template of the path stands for it.
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
 * Makes the role with which API Gateway writes access logs. All APIs of an AWS account and region share it, so it is retained when
 * the stack is deleted: other APIs may use it.
 */
export function makeGatewayLogRole(scope: Construct): CfnAccount {
  const role = new Role(scope, 'ApiLogRole', {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    managedPolicies: [
      ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs'),
    ],
  });
  role.applyRemovalPolicy(RemovalPolicy.RETAIN);
  accept(
    role,
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    'API Gateway has one such role for all APIs of an AWS account and region, those of others included. AWS documents ' +
      'this policy for it.',
  );
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
      // One permission covers the whole API: a function's policy is too small for one for each method.
      new LambdaIntegration(functions[route.function], { scopePermissionToMethod: false });
    integrations.set(route.function, integration);

    const path = gatewayPath(route);
    const known = resources.get(path) ?? { resource: api.root.resourceForPath(path), methods: [] };
    resources.set(path, known);
    if (known.methods.includes(route.method)) continue;
    known.methods.push(route.method);
    // Only the function knows which methods each of the paths has.
    if (known.methods.length === 1 && isShared(path))
      acceptWithoutAuthorizer(known.resource.addMethod('ANY', integration), otherMethods);
    if (route.access === 'management' && authorizer !== undefined) {
      accept(known.resource.addMethod(route.method, integration, { authorizer }), noUserPool, ofOperators);
    } else {
      const reason = route.access === 'open' ? ofOpenRoutes : ofTokens;
      acceptWithoutAuthorizer(known.resource.addMethod(route.method, integration), reason);
    }
  }
  for (const [path, { resource, methods }] of resources) {
    if (!isShared(path)) addMethodNotAllowed(resource, methods);
  }
}

const noUserPool = 'AwsSolutions-COG4';
const ofOperators =
  'Operators are known by a name and a password, which an authorizer of the service checks. A user pool would be one more ' +
  'thing to run for what is often one person.';
const ofTokens =
  'The function itself checks the token, which also says whose messages they are. An authorizer would be one more ' +
  'invocation for each request. A test calls each route without a token: test/e2e/openapi.test.ts.';
const ofOpenRoutes =
  'Open to everybody: the description, the health check, and the files of the console, which has no data of its own.';
const otherMethods =
  'Every other method is answered with 405, by the gateway itself or, where several paths share a resource, by the function.';

/** Accepts that no authorizer stands before the function of a method. */
function acceptWithoutAuthorizer(method: Method, reason: string): void {
  for (const rule of ['AwsSolutions-APIG4', noUserPool]) accept(method, rule, reason);
}

/** Refuses all other methods of a path. The gateway answers by itself, which costs no invocation. */
function addMethodNotAllowed(resource: IResource, methods: readonly string[]): void {
  const status = '405';
  const method = resource.addMethod(
    'ANY',
    new MockIntegration({
      // A template needs text, and with `*/*` as a binary type every body is bytes.
      contentHandling: ContentHandling.CONVERT_TO_TEXT,
      requestTemplates: { 'application/json': JSON.stringify({ statusCode: Number(status) }) },
      // Bodies of other types find no template and get UNSUPPORTED_MEDIA_TYPE, which has the same answer.
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
  acceptWithoutAuthorizer(method, otherMethods);
}
