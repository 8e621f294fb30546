/**
 * Additions to the clients of the functions that a program runs in its own process. This module reads no environment, so a program
 * can import it before it sets the functions' variables.
 */
import type { MiddlewareStack } from '@smithy/types';
import type { AwsService } from './metricTable.ts';

/** The part of an SDK client that all clients have. */
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
 * Registers an addition to each client that is made from now on. With it the local stage answers calls in its own process, and
 * chaos tests mark calls with their caller. On AWS nothing is added.
 */
export function addToClients(added: Addition): void {
  addition = added;
}

/** Adds the registered addition to a client. */
export const addTo: Addition = (service, client) => {
  addition(service, client);
};
