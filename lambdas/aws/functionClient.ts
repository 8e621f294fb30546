/** The clients of the functions: the SDK's own, with their failures counted. */
import type { AwsService } from './metricTable.ts';
import { addTo, type Client } from './additions.ts';
import { countFailures } from './countFailures.ts';

/** Adds the steps that every client of a service has to a client that has made no call yet, and returns the client. */
export function prepareClient<Input extends object, Output extends object, C extends Client<Input, Output>>(
  service: AwsService,
  client: C & Client<Input, Output>,
): C {
  client.middlewareStack.use(countFailures(service));
  addTo(service, client);
  return client;
}
