import type { APIGatewayProxyEvent, Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { finder } from './findRoute.ts';
import type { throughFunctionUrl } from './functionUrl/functionUrl.ts';
import { throughGateway } from './gateway.ts';
import { answerOf, type Endpoints, type Middleware, type RoutesOf } from './handler.ts';
import { publishingMiddlewares } from './messagingApi.ts';
import type { Result } from './request.ts';
import { type MessagingFunction, routesIn } from './route.ts';

/**
 * Makes the handler of a function behind API Gateway; with `publishUrl`, also behind its own URL.
 *
 * @param more middlewares of this function alone
 */
export function apiWithUrl<F extends MessagingFunction>(
  name: F,
  own: RoutesOf<F>,
  endpoints: Endpoints<F>,
  more: readonly Middleware[],
) {
  const find = finder(routesIn(name, own));
  const answer = answerOf(endpoints, find, [...publishingMiddlewares, ...more]);
  const gateway = throughGateway(answer);
  let functionUrl: ReturnType<typeof throughFunctionUrl> | undefined;
  return async (event: APIGatewayProxyEvent | LambdaFunctionURLEvent, context: Context): Promise<Result> => {
    if (!('rawPath' in event)) return gateway(event, context);
    // Loaded when needed, because not all deployments have the URL.
    functionUrl ??= (await import('./functionUrl/functionUrl.ts')).throughFunctionUrl(answer, find);
    return functionUrl(event, context);
  };
}
