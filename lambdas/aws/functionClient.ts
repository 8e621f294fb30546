/**
 * The clients of the functions: the SDK's own, with the failed tries of their calls counted, whether or not the next try succeeds. A
 * try that succeeds costs nothing here.
 */
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { Pluggable } from '@smithy/types';
import { addTo, type Client } from './additions.ts';
import { count } from './metrics.ts';
import type { AwsService } from './metricTable.ts';

/** Errors that an operator has to repair: rights, credentials, encryption keys. */
const refusals = /Denied|NotAuthorized|Signature|Token|KMS|Decryption/;

/**
 * Makes an addition to a client that counts its failed tries. An answer such as a failed condition is not a failure. For a secret
 * every error is one: it must exist, unless the client says otherwise.
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
      // Runs within the middleware that retries.
      { name: 'countFailures', step: 'finalizeRequest', priority: 'low' },
    );
  },
});

/** Tells the errors that are no failures. */
type IsExpected = (error: Error) => boolean;

type SdkError = Parameters<typeof isThrottlingError>[0];

/** Clients throw nothing but errors, and mark those whose cause is an error, too. */
export const isSdkError = (error: unknown): error is SdkError =>
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

/** Adds the steps that every client of a service has to a client that has made no call yet, and returns the client. */
export function prepareClient<Input extends object, Output extends object, C extends Client<Input, Output>>(
  service: AwsService,
  client: C & Client<Input, Output>,
  isExpected: IsExpected = () => false,
): C {
  client.middlewareStack.use(countFailures(service, isExpected));
  addTo(service, client);
  return client;
}
