/**
 * Lambda starts an X-Ray trace for each invocation, but one invocation has jobs of many messages. So each job
 * carries the trace header of the request that caused it, and passes it on to retries and callbacks.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { settings } from './settings.ts';

const followed = new AsyncLocalStorage<string>();

/** Lambda's data about the invocation in which this code runs. */
interface InvokeStore {
  readonly getXRayTraceId: () => string | undefined;
}

const isInvokeStore = (value: unknown): value is InvokeStore =>
  typeof value === 'object' && value !== null && 'getXRayTraceId' in value;

const storeIn = (runtime: object): unknown => ('InvokeStore' in runtime ? runtime.InvokeStore : undefined);

/**
 * A process on a managed instance has several invocations at once, whose trace headers are in the runtime's
 * store. Elsewhere the header is in the environment.
 */
function headerOfInvocation(): string | undefined {
  const store = 'awslambda' in globalThis ? storeIn(awslambda) : undefined;
  return (isInvokeStore(store) ? store.getXRayTraceId() : undefined) ?? process.env['_X_AMZN_TRACE_ID'];
}

export const traceHeader = (): string | undefined =>
  settings.isTraced ? (followed.getStore() ?? headerOfInvocation()) : undefined;

export const underTrace = <T>(header: string | undefined, act: () => T): T =>
  settings.isTraced && header !== undefined ? followed.run(header, act) : act();

/**
 * The SQS system attribute with the trace header. It does not count towards a message's size or number of
 * attributes.
 */
export function traceAttribute() {
  const header = traceHeader();
  return header === undefined ? undefined : { AWSTraceHeader: { DataType: 'String', StringValue: header } };
}
