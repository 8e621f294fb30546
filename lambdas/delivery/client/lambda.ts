/** Calls users' functions. Failures are the users', so they are not counted as the service's. */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { clientOptions } from '../../aws/clientOptions.ts';

interface Invoked {
  readonly payload: Uint8Array;
  readonly isError: boolean;
}

/**
 * Names a function for its region's API. Functions on one machine (`sam local start-lambda`, the runtime interface emulator)
 * are known by name.
 */
function namedFor(arn: string) {
  if (process.env['AWS_ENDPOINT_URL_LAMBDA'] === undefined) return { FunctionName: arn };
  const [name, qualifier] = arn.split(':').slice(6);
  return { FunctionName: name, Qualifier: qualifier };
}

/** @throws the errors of the SDK */
export function openLambda(region: string) {
  const lambda = new LambdaClient({ ...clientOptions('functions'), region });
  return async (arn: string, payload: Uint8Array, abortSignal: AbortSignal): Promise<Invoked> => {
    const { Payload = new Uint8Array(), FunctionError } = await lambda.send(
      new InvokeCommand({ ...namedFor(arn), Payload: payload }),
      { abortSignal },
    );
    const { buffer, byteOffset, length } = Payload;
    return { payload: Buffer.from(buffer, byteOffset, length), isError: FunctionError !== undefined };
  };
}
