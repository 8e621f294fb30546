/**
 * Makes a REST API from a table of routes. An HTTP API would decode the path, which has the destination as the client wrote it.
 */
import {
  AccessLogFormat,
  AccessLogField,
  ApiDefinition,
  CfnAccount,
  CfnStage,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApiMode,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type ApiFunction, gatewayRoutesOf, type Route } from '../../lambdas/http/routes.ts';
import { apiFunctionTimeoutSeconds } from '../../lambdas/aws/resources.ts';
import { accept, acceptLog } from '../acknowledge.ts';
import { liveAlias, notTraced, type SvcFunction } from '../functions/function.ts';
import { type Authorizer, binaryMediaTypes, definitionOf } from './definition.ts';
import { answersWith, type GatewayAnswer } from './gatewayAnswers.ts';
import { makeDomain } from './customDomain.ts';
import { makeFirewall } from './firewall.ts';
import { regionOfArn, valuesIn } from '../regional.ts';
import type { Settings } from '../settings.ts';

export const stageName = 'api';

export const answerTimeout = Duration.seconds(apiFunctionTimeoutSeconds);

interface ApiProps {
  readonly name: string;
  /** The API's place in the setting `domains`: its region, or `management`. */
  readonly place: string;
  /** The limits of all clients together: requests a second, and at one instant. */
  readonly throttle: { readonly rate: number; readonly burst: number };
  readonly routes: readonly Route[];
  readonly authorizer?: Authorizer;
  /** Answers that only this API gives. */
  readonly ownAnswers?: readonly GatewayAnswer[];
  readonly settings: Settings;
}

export interface MadeApi {
  readonly api: SpecRestApi;
  readonly host: string;
  readonly url: string;
  /** The generated host, even if the API has a domain. */
  readonly generatedUrl: string;
}

/**
 * Makes an API without its functions. {@link connect} adds them, because their variables contain the API's
 * host. The access log needs the role of {@link makeGatewayLogRole}.
 */
export function makeApi(scope: Construct, props: ApiProps): MadeApi {
  const { name, place, routes, authorizer, ownAnswers = [], settings } = props;
  const accessLog = new LogGroup(scope, 'ApiAccessLog', {
    retention: settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const api = new SpecRestApi(scope, 'Api', {
    restApiName: name,
    endpointTypes: [EndpointType.REGIONAL],
    binaryMediaTypes,
    apiDefinition: ApiDefinition.fromInline(
      definitionOf({ name, routes: gatewayRoutesOf(routes), answers: answersWith(ownAnswers), authorizer }),
    ),
    // Removes routes from the API that are no longer in the definition.
    mode: RestApiMode.OVERWRITE,
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
  api.node.tryRemoveChild('Endpoint'); // The CDK's own output would be this URL with a slash at the end.
  acceptLog(accessLog);
  acceptFindings(api, settings);
  const { region, urlSuffix } = Stack.of(scope);
  const host = `${api.restApiId}.execute-api.${region}.${urlSuffix}`;
  const [domain] = valuesIn(settings.domains, place);
  const certificateArn = settings.certificates.find((arn) => regionOfArn(arn) === region);
  if (domain !== undefined)
    makeDomain(scope, api, { name: domain, certificateArn, hostedZone: settings.hostedZone });
  if (settings.firewall) makeFirewall(scope, api, settings);
  const generatedUrl = `https://${host}/${stageName}`;
  return { api, host, generatedUrl, url: domain === undefined ? generatedUrl : `https://${domain}` };
}

function acceptFindings(api: SpecRestApi, { firewall, tracing }: Settings): void {
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
 * A line for each request, with the template of its path. Paths and queries contain destinations and tokens.
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
 * Makes the role with which API Gateway writes access logs. All APIs of an AWS account and region share it, so it is retained
 * when the stack is deleted.
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

export function connect(
  api: SpecRestApi,
  functions: Readonly<Partial<Record<ApiFunction, SvcFunction>>>,
): void {
  const stage = api.deploymentStage.node.defaultChild;
  if (!(stage instanceof CfnStage)) throw new Error('The API has no stage.');
  for (const [name, { functionName }] of Object.entries(functions))
    stage.addPropertyOverride(`Variables.${name}`, `${functionName}:${liveAlias}`);
  // One permission for the whole API. Permissions for each method would make the function's policy too large.
  for (const one of Object.values(functions)) allowGateway(api, one, api.arnForExecuteApi());
}

/**
 * The API's stage depends on the permission, so that no request arrives before it, even during an upgrade.
 */
export function allowGateway(api: SpecRestApi, { live }: SvcFunction, sourceArn: string): void {
  live.addPermission('Api', { principal: new ServicePrincipal('apigateway.amazonaws.com'), sourceArn });
  api.deploymentStage.node.addDependency(live);
}
