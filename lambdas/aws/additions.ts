/**
 * What a program adds to the clients of the functions that it runs in its own process. It reads no environment, so a program can
 * import it before it sets the functions' variables.
 */
import type { MiddlewareStack } from '@smithy/types';
import type { AwsService } from './metricTable.ts';

/** What every client of the SDK has. */
export interface Client<Input extends object, Output extends object> {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
  readonly config: { readonly requestHandler: object; cacheMiddleware?: boolean };
}

/** Adds steps to a client that has made no call yet. */
export type Addition = <Input extends object, Output extends object>(
  service: AwsService,
  client: Client<Input, Output>,
) => void;

let addition: Addition = () => undefined;

/**
 * Has something added to each client that is made from now on. With it the local stage answers calls in its own process, and chaos
 * marks them with their caller. On AWS nothing is added.
 */
export function addToClients(added: Addition): void {
  addition = added;
}

/** Adds it to a client. */
export const addTo: Addition = (service, client) => {
  addition(service, client);
};
