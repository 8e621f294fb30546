/** Refusals as the API answers them: those of requests of runs' endpoints fail their runs. */
import type { Account } from '../../lambdas/account/account.ts';
import { HttpError } from '../../lambdas/error/httpError.ts';
import type { RefusedRequest } from '../../lambdas/workflow/refusals.ts';

/** Does the work of a request, as the API does it. @throws HttpError with the status that the API answers */
export async function answered<T>(
  account: Account,
  request: Pick<RefusedRequest, 'config' | 'body'> & { readonly isBatch?: boolean },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const { refusalOfRequest } = await import('../../lambdas/workflow/refusals.ts');
    throw await refusalOfRequest(
      { account, access: 'write' },
      { isBatch: false, host: 'api.example.com', ...request },
      error,
    );
  }
}
