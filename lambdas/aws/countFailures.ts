/** Counts the failed tries of calls to AWS, whether or not the next try succeeds. A try that succeeds costs nothing here. */
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { Pluggable } from '@smithy/types';
import { count } from './metrics.ts';
import type { AwsService } from './metricTable.ts';

/** Errors that an operator has to repair: rights, credentials, encryption keys. */
const refusals = /Denied|NotAuthorized|Signature|Token|KMS|Decryption/;

/**
 * Makes an addition to a client that counts its failed tries. An answer such as a failed condition is not a failure. For a secret
 * every error is one: it must exist.
 */
export const countFailures = <Input extends object, Output extends object>(
  service: AwsService,
): Pluggable<Input, Output> => ({
  applyToStack: (stack) => {
    stack.add(
      (next) => async (args) => {
        try {
          return await next(args);
        } catch (error) {
          if (isSdkError(error)) note(service, error);
          throw error;
        }
      },
      // Runs within the middleware that retries.
      { name: 'countFailures', step: 'finalizeRequest', priority: 'low' },
    );
  },
});

type SdkError = Parameters<typeof isThrottlingError>[0];

/** Clients throw nothing but errors, and mark those whose cause is an error, too. */
const isSdkError = (error: unknown): error is SdkError =>
  error instanceof Error && (error.cause === undefined || error.cause instanceof Error);

function note(service: AwsService, error: SdkError): void {
  if (isThrottlingError(error)) count(`${service}Throttles`);
  else if (
    service === 'Secrets' ||
    isServerError(error) ||
    isTransientError(error) ||
    refusals.test(error.name)
  )
    count(`${service}Errors`);
}
