import { readArn } from '../../destination/arns.ts';
import { noAnswer, type DestinationResponse } from '../../destination/response.ts';
import { now } from '../../shared/clock.ts';
import { functionAnswer } from '../rules/functionAnswer.ts';
import { functionEvent, type FunctionRequest } from '../rules/functionEvent.ts';
import { callWithin, inEachRegion, type SdkError } from './awsCall.ts';
import { openLambda } from './lambda.ts';

export interface Invocation extends FunctionRequest {
  readonly timeoutMs: number;
  /** The most bytes of the answer's body to keep. The rest is cut off. */
  readonly maxResponseBytes: number;
}

const clientIn = inEachRegion(openLambda);

function refused(arn: string, error: SdkError): DestinationResponse {
  if (error.$metadata?.httpStatusCode === 429) {
    const { Reason: reason, retryAfterSeconds } = error;
    return {
      ...noAnswer(`Lambda throttles the function: ${typeof reason === 'string' ? reason : error.name}.`),
      status: 429,
      headers: typeof retryAfterSeconds === 'string' ? [['retry-after', retryAfterSeconds]] : [],
    };
  }
  switch (error.name) {
    case 'AccessDeniedException':
      return noAnswer(`The deployment may not invoke the function ${arn}: ${error.message}`);
    case 'ResourceNotFoundException':
      return noAnswer(`There is no function ${arn}.`);
    case 'RequestTooLargeException':
      return noAnswer('The message with its headers has more than the 6 MB that a function accepts.');
    default:
      return noAnswer(`The function was not invoked: ${error.name}: ${error.message}`);
  }
}

/** Invokes a function. Never rejects: without an answer, the response has status 0 and an error's text. */
export function invokeFunction(invocation: Invocation): Promise<DestinationResponse> {
  const { arn, timeoutMs, maxResponseBytes } = invocation;
  return callWithin(
    'The function',
    timeoutMs,
    async (deadline) => {
      const event = Buffer.from(JSON.stringify(functionEvent(invocation, now())));
      const { payload, isError } = await clientIn(readArn(arn).region)(arn, event, deadline);
      return functionAnswer(payload, isError, maxResponseBytes);
    },
    (error) => refused(arn, error),
  );
}
