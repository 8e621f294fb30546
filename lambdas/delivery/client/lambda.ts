/** Calls users' functions. A failure is the user's, not the service's, so it is not counted. */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { clientOptions } from '../../aws/clientOptions.ts';

interface Invoked {
  readonly payload: Uint8Array;
  readonly isError: boolean;
}

/**
 * The name by which the region's API knows a function. On one machine (`sam local start-lambda`, the runtime
 * interface emulator) it is the function's name, not its ARN.
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
