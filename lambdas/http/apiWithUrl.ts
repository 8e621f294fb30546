import type { APIGatewayProxyEvent, Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { finder } from './findRoute.ts';
import { throughFunctionUrl } from './functionUrl.ts';
import { throughGateway } from './gateway.ts';
import { answerOf, type Endpoints } from './handler.ts';
import { publishingMiddlewares } from './messagingApi.ts';
import type { Result } from './request.ts';
import type { MessagingFunction, Route } from './route.ts';

/**
 * Makes the Lambda handler of one function of the messaging API that has two doors: API Gateway, and a URL of its own. The
 * setting `publishUrl` decides whether the URL exists; only a function URL can send its events.
 */
export function apiWithUrl<F extends MessagingFunction>(
  own: readonly (Route & { readonly function: F })[],
  endpoints: Endpoints<F>,
) {
  const find = finder(own);
  const answer = answerOf(endpoints, find, publishingMiddlewares);
  const gateway = throughGateway(answer);
  const functionUrl = throughFunctionUrl(answer, find);
  return (event: APIGatewayProxyEvent | LambdaFunctionURLEvent, context: Context): Promise<Result> =>
    'rawPath' in event ? functionUrl(event, context) : gateway(event, context);
}
