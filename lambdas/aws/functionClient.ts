/** The clients of the functions: the SDK's own, whose failures are counted. */
import type { AwsService } from './metricTable.ts';
import { addTo, type Client } from './additions.ts';
import { countFailures } from './countFailures.ts';

/** Gives a client that has made no call yet the steps that every client of a service has, and returns it. */
export function prepareClient<Input extends object, Output extends object, C extends Client<Input, Output>>(
  service: AwsService,
  client: C & Client<Input, Output>,
): C {
  client.middlewareStack.use(countFailures(service));
  addTo(service, client);
  return client;
}
