/**
 * Lets a program that runs the functions in its own process change their AWS clients. This module reads no
 * environment, so the program can import it before it sets the functions' variables.
 */
import type { MiddlewareStack } from '@smithy/types';
import type { AwsService } from './metricTable.ts';

/** The part of an SDK client that all clients have. */
export interface Client<Input extends object, Output extends object> {
  readonly middlewareStack: MiddlewareStack<Input, Output>;
  readonly config: { readonly requestHandler: object; cacheMiddleware?: boolean };
}

/** Changes a client before its first call. */
export type Addition = <Input extends object, Output extends object>(
  service: AwsService,
  client: Client<Input, Output>,
) => void;

let addition: Addition = () => undefined;

/**
 * Registers an addition for all clients that are made later. The local stage answers calls in its process,
 * and chaos tests mark calls with their caller.
 */
export function addToClients(added: Addition): void {
  addition = added;
}

export const addTo: Addition = (service, client) => {
  addition(service, client);
};
