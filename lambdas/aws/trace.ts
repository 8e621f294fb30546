/**
 * Traces of X-Ray. Lambda begins a trace for each invocation, and one invocation has the jobs of many messages. So a job carries
 * the trace header of the request that it follows from, and passes it on to the jobs that follow from it: retries and callbacks of
 * a message are found from its publish.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { settings } from './settings.ts';

const followed = new AsyncLocalStorage<string>();

/** The invocation to which the running code belongs, as Lambda's runtime knows it. */
interface InvokeStore {
  readonly getXRayTraceId: () => string | undefined;
}

const isInvokeStore = (value: unknown): value is InvokeStore =>
  typeof value === 'object' && value !== null && 'getXRayTraceId' in value;

const storeIn = (runtime: object): unknown => ('InvokeStore' in runtime ? runtime.InvokeStore : undefined);

/**
 * The trace header of the invocation. On a managed instance a process has several invocations at once, and the runtime keeps the
 * header of each in its store; elsewhere it is in the environment.
 */
function headerOfInvocation(): string | undefined {
  const store = 'awslambda' in globalThis ? storeIn(awslambda) : undefined;
  return (isInvokeStore(store) ? store.getXRayTraceId() : undefined) ?? process.env['_X_AMZN_TRACE_ID'];
}

/** The trace header of the current job or request; undefined without a trace. */
export const traceHeader = (): string | undefined =>
  settings.isTraced ? (followed.getStore() ?? headerOfInvocation()) : undefined;

/** Runs a function under a trace. */
export const underTrace = <T>(header: string | undefined, act: () => T): T =>
  settings.isTraced && header !== undefined ? followed.run(header, act) : act();

/**
 * The system attribute with which SQS carries the header. It counts neither towards a message's size nor towards its attributes.
 */
export function traceAttribute() {
  const header = traceHeader();
  return header === undefined ? undefined : { AWSTraceHeader: { DataType: 'String', StringValue: header } };
}
