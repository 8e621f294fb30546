import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { HttpError } from '../domain/httpError.ts';
import { authenticateOperator } from '../services/operator.ts';

/** An answer of API Gateway's own says the sentence. */
const verdict = (
  effect: 'Allow' | 'Deny',
  resource: string,
  sentence?: string,
): APIGatewayAuthorizerResult => ({
  principalId: 'operator',
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Action: 'execute-api:Invoke', Effect: effect, Resource: resource }],
  },
  ...(sentence !== undefined && { context: { sentence } }),
});

/**
 * Stands before the management API on AWS, because API Gateway renames the header `WWW-Authenticate` of what a function
 * answers, and not that of its own refusals. The function behind it looks at the credentials all the same, and says what
 * is not a 401.
 */
export async function handler(event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const { headers, methodArn, requestContext } = event;
  const authorization = Object.entries(headers ?? {}).find(([name]) => /^authorization$/i.test(name))?.[1];
  try {
    await authenticateOperator(authorization, requestContext.identity.sourceIp);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.status === 401) return verdict('Deny', methodArn, error.message);
  }
  return verdict('Allow', methodArn);
}
