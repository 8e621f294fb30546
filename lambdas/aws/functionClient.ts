/** The functions' SDK clients. They count failed tries, even if a retry succeeds. */
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { Pluggable } from '@smithy/types';
import { addTo, type Client } from './additions.ts';
import { count } from './metrics.ts';
import type { AwsService } from './metricTable.ts';

/** Errors that need an operator: permissions, credentials, encryption keys. */
const refusals = /Denied|NotAuthorized|Signature|Token|KMS|Decryption/;

/**
 * Counts failed calls. An answer such as "condition failed" is not a failure. For secrets every error is one,
 * unless the client expects it.
 */
const countFailures = <Input extends object, Output extends object>(
  service: AwsService,
  isExpected: IsExpected,
): Pluggable<Input, Output> => ({
  applyToStack: (stack) => {
    stack.add(
      (next) => async (args) => {
        try {
          return await next(args);
        } catch (error) {
          if (isSdkError(error) && !isExpected(error)) note(service, error);
          throw error;
        }
      },
      // Runs for each try, inside the middleware that retries.
      { name: 'countFailures', step: 'finalizeRequest', priority: 'low' },
    );
  },
});

/** Tells whether an error is expected, and not counted as a failure. */
type IsExpected = (error: Error) => boolean;

type SdkError = Parameters<typeof isThrottlingError>[0];

/** Clients throw only errors whose causes are errors, too. */
export const isSdkError = (error: unknown): error is SdkError =>
  error instanceof Error && (error.cause === undefined || error.cause instanceof Error);

function note(service: AwsService, error: SdkError): void {
  if (isThrottlingError(error)) {
    count(`${service}Throttles`);
    count('AwsThrottles');
  } else if (
    service === 'Secrets' ||
    isServerError(error) ||
    isTransientError(error) ||
    refusals.test(error.name)
  ) {
    count(`${service}Errors`);
    count('AwsErrors');
  }
}

/** Prepares a client, before its first call. */
export function prepareClient<Input extends object, Output extends object, C extends Client<Input, Output>>(
  service: AwsService,
  client: C & Client<Input, Output>,
  isExpected: IsExpected = () => false,
): C {
  client.middlewareStack.use(countFailures(service, isExpected));
  addTo(service, client);
  return client;
}
