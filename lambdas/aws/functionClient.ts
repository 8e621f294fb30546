/** The clients of the functions: the SDK's own, with steps that all of them have. */
import type { MiddlewareStack, Pluggable } from '@smithy/types';
import type { AwsService } from '../metricTable.ts';
import { countFailures } from './countFailures.ts';

/** Makes what is added to each client of a service; undefined for nothing. */
export type Addition = <Input extends object, Output extends object>(
  service: AwsService,
) => Pluggable<Input, Output> | undefined;

let addition: Addition | undefined;

/**
 * Has something added to each client that is made from now on. The local stage answers calls in its own process so, and chaos
 * marks them with their caller. On AWS nothing is added.
 */
export function addToClients(added: Addition): void {
  addition = added;
}

interface Client<Input extends object, Output extends object> {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
}

/** Gives a client that has made no call yet the steps that every client of a service has, and returns it. */
export function prepareClient<Input extends object, Output extends object, C extends Client<Input, Output>>(
  service: AwsService,
  client: C & Client<Input, Output>,
): C {
  client.middlewareStack.use(countFailures(service));
  const added = addition?.<Input, Output>(service);
  if (added !== undefined) client.middlewareStack.use(added);
  return client;
}
