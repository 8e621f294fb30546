import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { errorCodes, type ErrorCode } from '../../lambdas/error/errorCodes.ts';
import {
  consoleRoutes,
  gatewayPath,
  isShared,
  managementRoutes,
  type Route,
  routes,
} from '../../lambdas/http/routes.ts';
import { properties, reference, resources, synthesizeOne } from './app.ts';

const { service, management } = synthesizeOne();

const resourceShape = z.object({
  PathPart: z.string(),
  ParentId: reference,
});
const methodShape = z.object({
  HttpMethod: z.string(),
  ResourceId: reference,
  AuthorizationType: z.enum(['NONE', 'CUSTOM']),
  AuthorizerId: z.optional(reference),
  Integration: z.object({
    Type: z.enum(['AWS_PROXY', 'MOCK']),
    Uri: z.unknown().optional(),
    ContentHandling: z.string().optional(),
    PassthroughBehavior: z.string().optional(),
    RequestTemplates: z.record(z.string(), z.string()).optional(),
    IntegrationResponses: z
      .array(
        z.object({
          StatusCode: z.string(),
          ResponseParameters: z.record(z.string(), z.string()),
          ResponseTemplates: z.record(z.string(), z.string()),
        }),
      )
      .optional(),
  }),
});

function pathOf(template: Template, logicalId: string): string {
  const found = resources(template, 'AWS::ApiGateway::Resource').get(logicalId);
  if (found === undefined) return '';
  const { PathPart, ParentId } = resourceShape.parse(found.Properties);
  return `${pathOf(template, ParentId)}/${PathPart}`;
}

const methodsOf = (template: Template) =>
  properties(template, 'AWS::ApiGateway::Method', methodShape).map((method) => ({
    ...method,
    path: pathOf(template, method.ResourceId),
  }));

const answerShape = z.object({
  ResponseType: z.string(),
  StatusCode: z.string().optional(),
  ResponseTemplates: z.strictObject({ 'application/json': z.string() }),
});
const errorShape = z.strictObject({
  error: z.string().regex(/^[A-Z].*\.$/),
  code: z.enum(Object.keys(errorCodes) as ErrorCode[]),
});

const apis: [string, Template, readonly Route[]][] = [
  ['messaging', service, [...routes, ...consoleRoutes]],
  ['management', management, [...managementRoutes, ...consoleRoutes]],
];

describe.each(apis)('the %s API', (_, template, table) => {
  const methods = methodsOf(template);

  it('is a regional REST API which hands over every body as bytes', () => {
    template.resourceCountIs('AWS::ApiGateway::RestApi', 1);
    template.resourceCountIs('AWS::ApiGatewayV2::Api', 0);
    template.hasResourceProperties('AWS::ApiGateway::RestApi', {
      BinaryMediaTypes: ['*/*'],
      EndpointConfiguration: { Types: ['REGIONAL'] },
      // Compression would change bodies on their way.
      MinimumCompressionSize: Match.absent(),
    });
  });

  it('has every route of the table, and no other', () => {
    const served = methods
      .filter(({ Integration, HttpMethod }) => Integration.Type === 'AWS_PROXY' && HttpMethod !== 'ANY')
      .map(({ HttpMethod, path }) => `${HttpMethod} ${path}`);
    const wanted = new Set(table.map((route) => `${route.method} ${gatewayPath(route)}`));
    expect(served.sort()).toEqual([...wanted].sort());
  });

  it('asks nobody for AWS credentials or API keys', () => {
    for (const method of resources(template, 'AWS::ApiGateway::Method').values()) {
      expect(method.Properties['AuthorizationType']).not.toBe('AWS_IAM');
      expect(method.Properties['ApiKeyRequired'] ?? false).toBe(false);
    }
  });

  it('may invoke the functions that it serves, and only they may be invoked by it', () => {
    const authorizers = resources(template, 'AWS::ApiGateway::Authorizer').size;
    const functions = new Set(table.map((route) => route.function)).size + authorizers;
    template.resourcePropertiesCountIs(
      'AWS::Lambda::Permission',
      {
        Action: 'lambda:InvokeFunction',
        Principal: 'apigateway.amazonaws.com',
        SourceArn: Match.anyValue(),
      },
      functions,
    );
    // A rule that invokes a function by the clock may do so, too.
    const rules = resources(template, 'AWS::Events::Rule').size;
    template.resourceCountIs('AWS::Lambda::Permission', functions + rules);
  });

  it('has one variable at most at each place in a path, as API Gateway demands', () => {
    const places = new Map<string, string>();
    for (const { path } of methods) {
      const segments = path.split('/');
      for (const [index, segment] of segments.entries()) {
        if (!segment.startsWith('{')) continue;
        const place = segments.slice(0, index).join('/');
        expect(places.get(place) ?? segment).toBe(segment);
        places.set(place, segment);
      }
    }
  });

  it.each([...new Set(table.map(gatewayPath))].filter(isShared))(
    'leaves any other method of %s to its function, which knows the paths that share it',
    (path) => {
      const of = methods.filter((method) => method.path === path);
      const uris = new Set(of.map(({ Integration }) => JSON.stringify(Integration.Uri)));
      expect(of.map(({ HttpMethod }) => HttpMethod)).toContain('ANY');
      expect(uris.size).toBe(1);
    },
  );

  it.each([...new Set(table.map(gatewayPath))].filter((path) => !isShared(path)))(
    'answers 405 with the allowed methods for any other method of %s',
    (path) => {
      const own = table.filter((route) => gatewayPath(route) === path).map(({ method }) => method);
      const allowed = [...new Set(own)];
      const any = methods.find((method) => method.path === path && method.HttpMethod === 'ANY');
      expect(any?.Integration).toMatchObject({
        Type: 'MOCK',
        // Without these, a body would make the gateway answer 500: it is bytes, and no template fits its type.
        ContentHandling: 'CONVERT_TO_TEXT',
        PassthroughBehavior: 'NEVER',
        RequestTemplates: { 'application/json': '{"statusCode":405}' },
      });
      const [answer] = any?.Integration.IntegrationResponses ?? [];
      expect(answer?.StatusCode).toBe('405');
      expect(answer?.ResponseParameters).toEqual({
        'method.response.header.Allow': `'${allowed.join(', ')}'`,
      });
      errorShape.parse(JSON.parse(answer?.ResponseTemplates['application/json'] ?? ''));
    },
  );

  const gatewayAnswers = new Map(
    properties(template, 'AWS::ApiGateway::GatewayResponse', answerShape).map((answer) => [
      answer.ResponseType,
      answer,
    ]),
  );

  it.each([
    ['MISSING_AUTHENTICATION_TOKEN', '404'],
    ['INVALID_SIGNATURE', '404'],
    ['EXPIRED_TOKEN', '404'],
    ['RESOURCE_NOT_FOUND', '404'],
    ['DEFAULT_4XX', '404'],
    ['BAD_REQUEST_PARAMETERS', '400'],
    ['BAD_REQUEST_BODY', '400'],
    ['UNAUTHORIZED', '401'],
    ['INVALID_API_KEY', '403'],
    ['WAF_FILTERED', '403'],
    ['UNSUPPORTED_MEDIA_TYPE', '405'],
    ['REQUEST_TOO_LARGE', '413'],
    ['THROTTLED', '429'],
    ['QUOTA_EXCEEDED', '429'],
    ['INTEGRATION_FAILURE', '502'],
    ['INTEGRATION_TIMEOUT', '504'],
    ['API_CONFIGURATION_ERROR', '500'],
    ['AUTHORIZER_CONFIGURATION_ERROR', '500'],
    ['AUTHORIZER_FAILURE', '500'],
    ['DEFAULT_5XX', undefined],
  ])('answers %s by itself with status %s, a sentence and a code of that status', (type, status) => {
    const answer = gatewayAnswers.get(type);
    expect(answer?.StatusCode).toBe(status);
    const { code } = errorShape.parse(JSON.parse(answer?.ResponseTemplates['application/json'] ?? ''));
    const { statuses } = errorCodes[code];
    expect(statuses).toContain(status === undefined ? 500 : Number(status));
  });

  it('deploys its answers too: each is there before the deployment is', () => {
    const [deployment] = [...resources(template, 'AWS::ApiGateway::Deployment').keys()];
    template.hasResource('AWS::ApiGateway::Deployment', {
      DependsOn: Match.arrayWith([...resources(template, 'AWS::ApiGateway::GatewayResponse').keys()].sort()),
    });
    expect(deployment).toBeDefined();
  });
});

describe('who may call', () => {
  const access = (template: Template) =>
    methodsOf(template)
      .filter(({ Integration }) => Integration.Type === 'AWS_PROXY')
      .map(({ HttpMethod, path, AuthorizationType }) => `${HttpMethod} ${path} ${AuthorizationType}`);

  it('the messaging API is for its functions to say', () => {
    for (const line of access(service)) expect(line).toMatch(/ NONE$/);
    service.resourceCountIs('AWS::ApiGateway::Authorizer', 0);
  });

  it('the management API is asked of its authorizer, each time, save for its description and its console', () => {
    for (const line of access(management)) {
      expect(line).toMatch(/ \S*\/(openapi\.json|console)\b/.test(line) ? / NONE$/ : / CUSTOM$/);
    }
    management.hasResourceProperties('AWS::ApiGateway::Authorizer', {
      Type: 'REQUEST',
      AuthorizerResultTtlInSeconds: 0,
    });
  });

  it('is refused with 401 and a challenge, in the authorizer’s words', () => {
    management.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
      ResponseType: 'ACCESS_DENIED',
      StatusCode: '401',
      ResponseTemplates: {
        'application/json': '{"error":"$context.authorizer.sentence","code":"$context.authorizer.code"}',
      },
      ResponseParameters: {
        'gatewayresponse.header.WWW-Authenticate': `'Basic realm="management", charset="UTF-8"'`,
      },
    });
    service.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
      ResponseType: 'ACCESS_DENIED',
      StatusCode: '403',
    });
  });
});

describe.each(apis)('the log of requests to the %s API', (_, template) => {
  const [stage] = properties(
    template,
    'AWS::ApiGateway::Stage',
    z.object({
      AccessLogSetting: z.object({ Format: z.string() }),
      MethodSettings: z.array(z.record(z.string(), z.unknown())),
      TracingEnabled: z.boolean().default(false),
    }),
  );

  it('is JSON and says who asked for what, when, and how it went', () => {
    expect(
      Object.keys(z.record(z.string(), z.string()).parse(JSON.parse(stage?.AccessLogSetting.Format ?? ''))),
    ).toEqual(['requestId', 'ip', 'time', 'method', 'resource', 'status', 'latencyMs', 'responseBytes']);
  });

  it('has neither paths nor queries nor headers, where tokens and destinations are', () => {
    expect(stage?.AccessLogSetting.Format).not.toMatch(
      /\$context\.(path|requestOverride|authorizer|authorize|customDomain)|querystring|header|\$input|body/i,
    );
    for (const settings of stage?.MethodSettings ?? []) {
      expect(settings).toMatchObject({ DataTraceEnabled: false, LoggingLevel: 'OFF' });
    }
  });
});

describe('the limits of the APIs', () => {
  const limited = synthesizeOne({ throttleRate: '5000', throttleBurst: '2000' });

  it('come from the settings for messages', () => {
    limited.service.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({ ThrottlingRateLimit: 5000, ThrottlingBurstLimit: 2000, ResourcePath: '/*' }),
      ],
    });
  });

  it('are low for the management of accounts, where a password could be guessed', () => {
    limited.management.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({ ThrottlingRateLimit: 50, ThrottlingBurstLimit: 50, ResourcePath: '/*' }),
      ],
    });
  });
});

describe('the role with which the gateway writes logs', () => {
  it('stays when the stack goes, since other APIs of the account use it', () => {
    const [account] = resources(service, 'AWS::ApiGateway::Account').values();
    expect(account?.DeletionPolicy).toBe('Retain');
  });

  it('is one for both APIs', () => {
    service.resourceCountIs('AWS::ApiGateway::Account', 1);
    management.resourceCountIs('AWS::ApiGateway::Account', 0);
  });

  it('is not made where the account has one already', () => {
    synthesizeOne({ gatewayLogRole: 'false' }).service.resourceCountIs('AWS::ApiGateway::Account', 0);
  });
});
