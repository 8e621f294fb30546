/** Counts the tries of AWS's services that fail, be the next try a success or not. A try that succeeds costs nothing here. */
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { Pluggable } from '@smithy/types';
import { count } from './metrics.ts';
import type { AwsService } from './metricTable.ts';

/** Errors that an operator has to mend: rights, credentials, keys of encryption. */
const refusals = /Denied|NotAuthorized|Signature|Token|KMS|Decryption/;

/**
 * Makes an addition to a client that counts its failed tries. Answers such as a condition that does not hold are no failures. Of
 * a secret every error is one: it must be there.
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
      // Within the middleware that tries again.
      { name: 'countFailures', step: 'finalizeRequest', priority: 'low' },
    );
  },
});

type SdkError = Parameters<typeof isThrottlingError>[0];

/** Clients throw nothing but errors, and classify those whose cause is an error, too. */
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
