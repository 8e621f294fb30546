/**
 * Passes calls to stand-ins in the same process, as objects. Signing, JSON and a socket would cost more CPU
 * than most answers.
 */
import type { MetadataBearer, Pluggable } from '@smithy/types';
import type { Addition } from '../../lambdas/aws/additions.ts';
import type { AwsService } from '../../lambdas/aws/metricTable.ts';
import { AwsError } from './awsError.ts';

/**
 * Makes a call. Input and output are objects as in the SDK, with bytes as `Uint8Array`s.
 *
 * @param operation such as `PutItem`
 * @throws AwsError if the call is refused
 */
export type HandOver = (operation: string, input: object) => Promise<object>;

export interface HandedOver {
  readonly handOver: HandOver;
  /** The operations that are answered; undefined for all. */
  readonly only?: readonly string[];
  /** Loads the SDK's module of this service, which has the classes of exceptions. */
  readonly sdk: () => object | Promise<object>;
}

export type HandOvers = ReadonlyMap<AwsService, HandedOver>;

const commandSuffix = 'Command';

/** Makes an SDK plugin with which stand-ins in this process answer calls. */
export const handingOver =
  (services: HandOvers): Addition =>
  (service, { middlewareStack }) => {
    const handedOver = services.get(service);
    if (handedOver !== undefined) middlewareStack.use(answeredBy(handedOver));
  };

/** Answers in the client's first step, so that the others are skipped. */
const answeredBy = <Input extends object, Output extends object>({
  handOver,
  only,
  sdk,
}: HandedOver): Pluggable<Input, Output> => ({
  applyToStack: (stack) => {
    // This step copies inputs and outputs for a log that is not written. It would cost as much as all others.
    stack.remove('loggerMiddleware');
    stack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          const operation = commandName.slice(0, -commandSuffix.length);
          if (only?.includes(operation) === false) return next(args);
          try {
            const output = { ...(await handOver(operation, args.input)), $metadata: metadata(200) };
            // The answer is what the service would return, but does not have the SDK's types.
            return { output: output as MetadataBearer & Output, response: undefined };
          } catch (error) {
            throw error instanceof AwsError ? toException(error, await sdk()) : error;
          }
        },
      { name: 'handOver', step: 'initialize', priority: 'low' },
    );
  },
});

const metadata = (httpStatusCode: number): MetadataBearer['$metadata'] => ({
  httpStatusCode,
  attempts: 1,
  totalRetryDelay: 0,
});

/** Makes the SDK's exception, or an error with the same name if the SDK has no class for it. */
function toException({ code, message, status, members }: AwsError, sdk: object): Error {
  const $metadata = metadata(status);
  const $fault = status >= 500 ? 'server' : 'client';
  const exception: unknown = Reflect.get(sdk, code);
  const made: unknown =
    typeof exception === 'function'
      ? Reflect.construct(exception, [{ ...members, message, $metadata }])
      : undefined;
  return made instanceof Error
    ? made
    : Object.assign(new Error(message), { name: code, $fault, $metadata, ...members });
}
