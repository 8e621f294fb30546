import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { HttpError } from '../error/httpError.ts';
import { withMetrics } from '../aws/metrics.ts';
import { finder } from '../http/findRoute.ts';
import { routesIn } from '../http/route.ts';
import { accountsRoutes } from '../http/routeTable.ts';
import { authenticateManager } from '../management/authenticateManager.ts';

/** @param refusal for the answer of API Gateway */
const policy = (
  effect: 'Allow' | 'Deny',
  resource: string,
  refusal?: HttpError,
): APIGatewayAuthorizerResult => ({
  principalId: 'operator',
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Action: 'execute-api:Invoke', Effect: effect, Resource: resource }],
  },
  ...(refusal !== undefined && { context: { sentence: refusal.message, code: refusal.code } }),
});

const find = finder(routesIn('accounts', accountsRoutes));

/**
 * Authorizes requests to the management API on AWS. This is necessary because API Gateway renames the header
 * `WWW-Authenticate` in a function's answer, but not in its own refusals. It refuses only with 401. The
 * function behind it checks the credentials again and makes all other answers, such as 429, and those for
 * unknown paths, which need no credentials.
 */
export const handler = withMetrics(
  async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    const { headers, httpMethod, methodArn, path, requestContext } = event;
    if (find(httpMethod, path).route?.access !== 'management') return policy('Allow', methodArn);
    const authorization = Object.entries(headers ?? {}).find(([name]) => /^authorization$/i.test(name))?.[1];
    try {
      await authenticateManager(authorization, requestContext.identity.sourceIp);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      if (error.status === 401) return policy('Deny', methodArn, error);
    }
    return policy('Allow', methodArn);
  },
);
