/** Errors as the API answers them. An error of an endpoint's request fails its run. */
import type { Account } from '../../lambdas/account/account.ts';
import { HttpError } from '../../lambdas/error/httpError.ts';
import type { RefusedRequest } from '../../lambdas/workflow/refusedRequests.ts';

/** Does a request's work as the API does. @throws HttpError with the API's status */
export async function answered<T>(
  account: Account,
  request: Pick<RefusedRequest, 'config' | 'body'> & { readonly isBatch?: boolean },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const { refusalOfRequest } = await import('../../lambdas/workflow/refusedRequests.ts');
    throw await refusalOfRequest(
      { account, access: 'write' },
      { isBatch: false, host: 'api.example.com', ...request },
      error,
    );
  }
}
