/**
 * The definition of an API in OpenAPI with Amazon's additions ("OpenAPI extensions for API Gateway"). It
 * replaces hundreds of resources in the template.
 */
import { Fn } from 'aws-cdk-lib';
import manifest from '../../package.json' with { type: 'json' };
import type { ApiFunction, GatewayRoute } from '../../lambdas/http/routes.ts';
import { type GatewayAnswer, refusalBody } from './gatewayAnswers.ts';

export interface Authorizer {
  /** The function whose routes it guards. */
  readonly before: ApiFunction;
  readonly arn: string;
}

interface DefinitionProps {
  readonly name: string;
  readonly routes: readonly GatewayRoute[];
  readonly answers: readonly GatewayAnswer[];
  readonly authorizer?: Authorizer | undefined;
}

/** All bodies count as binary, so that they reach functions unchanged. */
export const binaryMediaTypes = ['*/*'];

const authorizerName = 'operators';

export const definitionOf = ({ name, routes, answers, authorizer }: DefinitionProps) => ({
  openapi: '3.0.1',
  // Each release has another version, so each deployment imports the whole definition and undoes manual
  // changes.
  info: { title: name, version: manifest.version },
  'x-amazon-apigateway-binary-media-types': binaryMediaTypes,
  paths: Object.fromEntries(
    routes.map((route) => [
      route.path,
      {
        'x-amazon-apigateway-any-method': {
          parameters: parametersOf(route.path),
          responses: {},
          ...(authorizer?.before === route.function && { security: [{ [authorizerName]: [] }] }),
          'x-amazon-apigateway-integration': {
            type: 'aws_proxy',
            httpMethod: 'POST',
            uri: invocationOf(functionOfStage(route.function)),
          },
        },
      },
    ]),
  ),
  ...(authorizer && {
    components: {
      securitySchemes: {
        [authorizerName]: {
          type: 'apiKey',
          // "x-amazon-apigateway-authorizer object" requires this name and place if the authorizer reads no header or
          // parameter.
          name: 'Unused',
          in: 'header',
          'x-amazon-apigateway-authtype': 'custom',
          'x-amazon-apigateway-authorizer': {
            type: 'request',
            authorizerUri: invocationOf('${Function}', { Function: authorizer.arn }),
            // Each request is checked: a cached result would still be valid after the password changed.
            authorizerResultTtlInSeconds: 0,
          },
        },
      },
    },
  }),
  'x-amazon-apigateway-gateway-responses': Object.fromEntries(
    answers.map(({ type, status, code, sentence, headers = {} }) => [
      type.responseType,
      {
        ...(status !== undefined && { statusCode: status.toString() }),
        responseTemplates: { 'application/json': refusalBody({ sentence, code }) },
        responseParameters: Object.fromEntries(
          Object.entries(headers).map(([header, value]) => [`gatewayresponse.header.${header}`, value]),
        ),
      },
    ]),
  ),
});

const parametersOf = (path: string) =>
  [...path.matchAll(/\{(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

/**
 * The name of a function's alias is in a stage variable ("API Gateway stage variables reference for REST
 * APIs"). The functions know the API's host, so the API cannot refer to them. A value may contain colons
 * ("CreateStage").
 */
const functionOfStage = (name: ApiFunction): string =>
  `arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}:function:\${!stageVariables.${name}}`;

const invocationOf = (functionArn: string, variables?: Readonly<Record<string, string>>): string =>
  Fn.sub(
    `arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path/2015-03-31/functions/${functionArn}/invocations`,
    variables,
  );
