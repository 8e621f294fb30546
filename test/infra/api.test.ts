import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import manifest from '../../package.json' with { type: 'json' };
import { errorCodes, type ErrorCode } from '../../lambdas/error/errorCodes.ts';
import {
  consoleRoutes,
  gatewayRoutesOf,
  managementRoutes,
  type Route,
  routes,
} from '../../lambdas/http/routes.ts';
import { properties, resources, synthesizeOne } from './app.ts';
import { elsewhere, everythingOn, tuned, unprotected, withAddresses } from './variants.ts';

const { service, management } = synthesizeOne();

const answerShape = z.strictObject({
  statusCode: z.string().optional(),
  responseTemplates: z.strictObject({ 'application/json': z.string() }),
  responseParameters: z.record(z.string(), z.string()),
});
const methodShape = z.strictObject({
  parameters: z.array(
    z.strictObject({
      name: z.string(),
      in: z.literal('path'),
      required: z.literal(true),
      schema: z.strictObject({ type: z.literal('string') }),
    }),
  ),
  responses: z.strictObject({}),
  security: z.tuple([z.strictObject({ operators: z.tuple([]) })]).optional(),
  'x-amazon-apigateway-integration': z.strictObject({
    type: z.literal('aws_proxy'),
    httpMethod: z.literal('POST'),
    uri: z.strictObject({
      'Fn::Sub': z.string().regex(/function:\$\{!stageVariables\.\w+\}\/invocations$/),
    }),
  }),
});
const definitionShape = z.strictObject({
  openapi: z.literal('3.0.1'),
  info: z.strictObject({ title: z.string(), version: z.literal(manifest.version) }),
  'x-amazon-apigateway-binary-media-types': z.tuple([z.literal('*/*')]),
  paths: z.record(z.string(), z.strictObject({ 'x-amazon-apigateway-any-method': methodShape })),
  components: z.unknown().optional(),
  'x-amazon-apigateway-gateway-responses': z.record(z.string(), answerShape),
});
const apiShape = z.object({ Body: definitionShape, Mode: z.literal('overwrite') });

function definitionOf(template: Template): z.output<typeof definitionShape> {
  const [api] = properties(template, 'AWS::ApiGateway::RestApi', apiShape);
  if (api === undefined) throw new Error('There is no API.');
  return api.Body;
}

/** An API's paths, each with the function that all its methods invoke, and the authorizer. */
const methodsOf = (template: Template) =>
  Object.entries(definitionOf(template).paths).map(([path, item]) => {
    const { security, parameters, ...method } = item['x-amazon-apigateway-any-method'];
    const { uri } = method['x-amazon-apigateway-integration'];
    const name = /stageVariables\.(\w+)/.exec(uri['Fn::Sub'])?.[1];
    return {
      path,
      function: name,
      authorized: security !== undefined,
      parameters: parameters.map((one) => one.name),
    };
  });

/** The name of a function with its alias, as the function's id. */
const nameWithAlias = z
  .object({
    'Fn::Join': z.tuple([z.literal(''), z.tuple([z.object({ Ref: z.string() }), z.literal(':live')])]),
  })
  .transform((join) => join['Fn::Join'][1][0].Ref);

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

  it('is a regional REST API that passes on every body as bytes', () => {
    template.resourceCountIs('AWS::ApiGateway::RestApi', 1);
    template.resourceCountIs('AWS::ApiGatewayV2::Api', 0);
    template.hasResourceProperties('AWS::ApiGateway::RestApi', {
      BinaryMediaTypes: ['*/*'],
      EndpointConfiguration: { Types: ['REGIONAL'] },
      // Compression would change bodies.
      MinimumCompressionSize: Match.absent(),
    });
  });

  it('leads exactly the paths of the table to their functions, with every method', () => {
    const served = methods.map(({ path, function: name }) => ({ path, function: name }));
    expect(served).toEqual(gatewayRoutesOf(table));
    for (const { path, parameters } of methods)
      expect(parameters).toEqual([...path.matchAll(/\{(\w+)/g)].map(([, name]) => name));
  });

  it('has no separate resource in the stack for a route', () => {
    for (const type of ['Resource', 'Method', 'GatewayResponse', 'Authorizer'])
      template.resourceCountIs(`AWS::ApiGateway::${type}`, 0);
  });

  it('gets the names of the functions from its stage, because they get its host', () => {
    const [stage] = properties(
      template,
      'AWS::ApiGateway::Stage',
      z.object({ Variables: z.record(z.string(), nameWithAlias) }),
    );
    const functions = resources(template, 'AWS::Lambda::Function');
    const named = Object.entries(stage?.Variables ?? {}).map(([name, id]) => [
      name,
      z.object({ ZipFile: z.string() }).parse(functions.get(id)?.Properties['Code']).ZipFile,
    ]);
    const wanted = [...new Set(table.map((route) => route.function))];
    expect(named.sort()).toEqual(wanted.map((name) => [name, `// ${name}`]).sort());
  });

  it('may invoke only the functions that it serves, and only they may be invoked by it', () => {
    const authorizers = definitionOf(template).components === undefined ? 0 : 1;
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
    // A rule that invokes a function by the clock may do so too.
    const rules = resources(template, 'AWS::Events::Rule').size;
    // So may everyone, through the publish URL, which takes two permissions.
    const urls = resources(template, 'AWS::Lambda::Url').size;
    template.resourceCountIs('AWS::Lambda::Permission', functions + rules + 2 * urls);
  });

  it('has at most one variable at each place in a path, as API Gateway requires', () => {
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

  const gatewayAnswers = new Map(
    Object.entries(definitionOf(template)['x-amazon-apigateway-gateway-responses']),
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
    ['REQUEST_TOO_LARGE', '413'],
    ['THROTTLED', '429'],
    ['QUOTA_EXCEEDED', '429'],
    ['INTEGRATION_FAILURE', '502'],
    ['INTEGRATION_TIMEOUT', '504'],
    ['API_CONFIGURATION_ERROR', '500'],
    ['AUTHORIZER_CONFIGURATION_ERROR', '500'],
    ['AUTHORIZER_FAILURE', '500'],
    ['DEFAULT_5XX', undefined],
  ])('answers %s itself with status %s, a sentence and a code of that status', (type, status) => {
    const answer = gatewayAnswers.get(type);
    expect(answer?.statusCode).toBe(status);
    const { code } = errorShape.parse(JSON.parse(answer?.responseTemplates['application/json'] ?? ''));
    const { statuses } = errorCodes[code];
    expect(statuses).toContain(status === undefined ? 500 : Number(status));
  });

  it('is deployed again when its definition changes, and only then', () => {
    const idOf = (one: Template): string | undefined =>
      [...resources(one, 'AWS::ApiGateway::Deployment').keys()][0];
    const other = synthesizeOne(elsewhere);
    const changed = synthesizeOne(tuned);
    const key = template === service ? 'service' : 'management';
    expect(idOf(other[key])).not.toBe(idOf(template));
    expect(idOf(changed[key])).toBe(idOf(template));
  });
});

describe('who may call', () => {
  it('is left to the functions for the messaging API', () => {
    expect(methodsOf(service).filter(({ authorized }) => authorized)).toEqual([]);
    expect(definitionOf(service).components).toBeUndefined();
  });

  it('is decided by the management API’s authorizer, at each request except to the console', () => {
    for (const { path, authorized } of methodsOf(management))
      expect([path, authorized]).toEqual([path, !path.startsWith('/console')]);
    expect(definitionOf(management).components).toMatchObject({
      securitySchemes: {
        operators: {
          'x-amazon-apigateway-authtype': 'custom',
          'x-amazon-apigateway-authorizer': { type: 'request', authorizerResultTtlInSeconds: 0 },
        },
      },
    });
  });

  it('is answered with 401 and a challenge, in the authorizer’s words, if refused', () => {
    const denied = (template: Template) =>
      definitionOf(template)['x-amazon-apigateway-gateway-responses']['ACCESS_DENIED'];
    expect(denied(management)).toEqual({
      statusCode: '401',
      responseTemplates: {
        'application/json': '{"error":"$context.authorizer.sentence","code":"$context.authorizer.code"}',
      },
      responseParameters: {
        'gatewayresponse.header.WWW-Authenticate': `'Basic realm="management", charset="UTF-8"'`,
      },
    });
    expect(denied(service)?.statusCode).toBe('403');
  });
});

describe('the stack of a region', () => {
  it.each([
    ['by default', {}, 255],
    // Each function that handles messages has a group in CodeDeploy, except those on managed instances.
    ['with everything on', everythingOn, 290],
    // A new VPC has 33 resources for them; an operator's VPC gets 8 endpoints.
    ['with fixed addresses', withAddresses, 305],
  ])('is far from the 500 resources that CloudFormation takes, %s', (_, context, fewerThan) => {
    expect(resources(synthesizeOne(context).service).size).toBeLessThan(fewerThan);
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

  it('is JSON and says who requested what, when, and with which result', () => {
    expect(
      Object.keys(z.record(z.string(), z.string()).parse(JSON.parse(stage?.AccessLogSetting.Format ?? ''))),
    ).toEqual(['requestId', 'ip', 'time', 'method', 'resource', 'status', 'latencyMs', 'responseBytes']);
  });

  it('has no paths, queries or headers, which may contain tokens and destinations', () => {
    expect(stage?.AccessLogSetting.Format).not.toMatch(
      /\$context\.(path|requestOverride|authorizer|authorize|customDomain)|querystring|header|\$input|body/i,
    );
    for (const settings of stage?.MethodSettings ?? []) {
      expect(settings).toMatchObject({ DataTraceEnabled: false, LoggingLevel: 'OFF' });
    }
  });
});

describe('the limits of the APIs', () => {
  const limited = synthesizeOne(tuned);

  it('come from the settings for messages', () => {
    limited.service.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({ ThrottlingRateLimit: 5000, ThrottlingBurstLimit: 2000, ResourcePath: '/*' }),
      ],
    });
  });

  it('are low for the management of accounts, so that a password cannot be guessed', () => {
    limited.management.hasResourceProperties('AWS::ApiGateway::Stage', {
      MethodSettings: [
        Match.objectLike({ ThrottlingRateLimit: 50, ThrottlingBurstLimit: 50, ResourcePath: '/*' }),
      ],
    });
  });
});

describe('the role that lets the gateway write logs', () => {
  it('stays when the stack is deleted, because other APIs of the AWS account use it', () => {
    const [account] = resources(service, 'AWS::ApiGateway::Account').values();
    expect(account?.DeletionPolicy).toBe('Retain');
  });

  it('is one for both APIs', () => {
    service.resourceCountIs('AWS::ApiGateway::Account', 1);
    management.resourceCountIs('AWS::ApiGateway::Account', 0);
  });

  it('is not created if the AWS account already has one', () => {
    synthesizeOne(unprotected).service.resourceCountIs('AWS::ApiGateway::Account', 0);
  });
});
