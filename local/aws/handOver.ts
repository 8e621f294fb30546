/**
 * Hands calls over to stand-ins in the same process: a client gives them a command's input, and gets its output. Signing, JSON
 * and a socket would cost more CPU than most stand-ins need for the answer.
 */
import type { MetadataBearer, Pluggable } from '@smithy/types';
import type { Addition } from '../../lambdas/aws/additions.ts';
import type { AwsService } from '../../lambdas/aws/metricTable.ts';
import { AwsError } from './awsError.ts';

/**
 * Makes a call, and returns its output. Both are in the client's form: bytes are bytes.
 *
 * @param operation such as `PutItem`
 * @throws AwsError for a refusal
 */
export type HandOver = (operation: string, input: object) => Promise<object>;

/** A service whose calls are handed over. */
export interface HandedOver {
  readonly handOver: HandOver;
  /** The operations that are; all of them when absent. */
  readonly only?: readonly string[];
  /** Loads the SDK's module of its client, which has the classes of the exceptions. */
  readonly sdk: () => object | Promise<object>;
}

export type HandOvers = ReadonlyMap<AwsService, HandedOver>;

const commandSuffix = 'Command';

/** Lets stand-ins of this process answer the calls of some services. */
export const handingOver =
  (services: HandOvers): Addition =>
  (service, { middlewareStack }) => {
    const handedOver = services.get(service);
    if (handedOver !== undefined) middlewareStack.use(answeredBy(handedOver));
  };

/** Answers each call in the first of the client's steps; the others do not run. */
const answeredBy = <Input extends object, Output extends object>({
  handOver,
  only,
  sdk,
}: HandedOver): Pluggable<Input, Output> => ({
  applyToStack: (stack) => {
    // It copies each input and output for a log that is not kept, which costs as much as all other steps.
    stack.remove('loggerMiddleware');
    stack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          const operation = commandName.slice(0, -commandSuffix.length);
          if (only?.includes(operation) === false) return next(args);
          try {
            const output = { ...(await handOver(operation, args.input)), $metadata: metadata(200) };
            // The stand-in's answers have the service's shapes, but not the SDK's types for them.
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

/** Makes the SDK's exception for a refusal; an error of the same name when the SDK has no class for it. */
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
