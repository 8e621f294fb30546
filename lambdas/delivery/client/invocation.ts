/**
 * Invokes the Lambda function that a message goes to, in the place of an HTTP request. The client is large and rarely needed, so
 * `lib/bundle.ts` makes a bundle of its own of this file, with all that only it needs.
 */
import { functionOf } from '../../destination/functions.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { recentlyUsed } from '../../shared/recentlyUsed.ts';
import { functionAnswer } from '../rules/functionAnswer.ts';
import { functionEvent, type FunctionRequest } from '../rules/functionEvent.ts';
import { openLambda, type Invoked } from './lambda.ts';

export interface Invocation extends FunctionRequest {
  /** The time for all of it. */
  readonly timeoutMs: number;
  /** Bytes of the answer's body that are kept; the rest is cut off. */
  readonly maxResponseBytes: number;
}

type Invoke = ReturnType<typeof openLambda>;

/** A client for each region, which the ARNs name. */
const clients = new Map<string, Invoke>();

const clientIn = (region: string): Invoke =>
  recentlyUsed(
    clients,
    region,
    () => openLambda(region),
    () => true,
  );

/** The parts of an SDK's error that decide what it means. */
interface SdkError {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly retryAfterSeconds?: unknown;
  readonly Reason?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/**
 * Makes an invocation, and makes it again where Lambda closed a kept connection at the moment of its next use, which says nothing
 * about the function. A connection that is lost later may be that of a function that runs.
 */
async function invokeOnce(arn: string, payload: Uint8Array, deadline: AbortSignal): Promise<Invoked> {
  const invoke = clientIn(functionOf(arn).region);
  const startedAt = now();
  try {
    return await invoke(arn, payload, deadline);
  } catch (error) {
    const isReset = error instanceof Error && 'code' in error && resets.has(String(error.code));
    if (!isReset || now() - startedAt > secondMs) throw error;
    return invoke(arn, payload, deadline);
  }
}

const resets: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

const noAnswer = (error: string): DestinationResponse => ({
  status: 0,
  error,
  headers: [],
  body: new Uint8Array(),
});

/** Puts an error of Lambda into words. A throttle counts as the answer 429. */
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
      return noAnswer('The message with its headers is more than the 6 MB that a function takes.');
    default:
      return noAnswer(`The function was not invoked: ${error.name}: ${error.message}`);
  }
}

/** Invokes a function. Where there is no answer, the response has status 0 and an error's text; it never rejects. */
export async function invokeFunction(invocation: Invocation): Promise<DestinationResponse> {
  const { arn, timeoutMs, maxResponseBytes } = invocation;
  const deadline = new AbortController();
  // The timer of `AbortSignal.timeout` would let a process end before its attempts.
  const timer = setTimeout(() => {
    deadline.abort();
  }, timeoutMs);
  try {
    const event = Buffer.from(JSON.stringify(functionEvent(invocation, now())));
    const { payload, isError } = await invokeOnce(arn, event, deadline.signal);
    return functionAnswer(payload, isError, maxResponseBytes);
  } catch (error) {
    if (deadline.signal.aborted)
      return noAnswer(`The function did not answer within ${timeoutMs / secondMs} s.`);
    return refused(arn, error instanceof Error ? error : new Error(String(error)));
  } finally {
    clearTimeout(timer);
  }
}
