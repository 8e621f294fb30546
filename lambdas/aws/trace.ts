/**
 * Traces of X-Ray. Lambda begins a trace for each invocation, and one invocation has the work of many messages. So work carries the
 * trace header of the request that it follows from, and all that follows from the work carries the same: retries and callbacks of a
 * message are found from its publish.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { settings } from './settings.ts';

const followed = new AsyncLocalStorage<string>();

/** The trace header of what is being done; undefined where nothing is traced. */
export const traceHeader = (): string | undefined =>
  settings.isTraced ? (followed.getStore() ?? process.env['_X_AMZN_TRACE_ID']) : undefined;

/** Does something under the trace that it follows from. */
export const underTrace = <T>(header: string | undefined, act: () => T): T =>
  settings.isTraced && header !== undefined ? followed.run(header, act) : act();

/** The system attribute with which SQS carries the header. It counts neither for a message's size nor for its attributes. */
export function traceAttribute() {
  const header = traceHeader();
  return header === undefined ? undefined : { AWSTraceHeader: { DataType: 'String', StringValue: header } };
}
