import { badDestination, type DestinationRules } from '../../destination/destination.ts';
import { isFunction } from '../../destination/functions.ts';
import { quote } from '../../error/httpError.ts';
import { urlOf } from '../../publish/prepare.ts';

/**
 * Reads an endpoint's URL from a submission's body. Workflow endpoints are never called as functions.
 *
 * @param field its name in the error
 * @throws HttpError 400 or 403
 */
export function endpointUrl(url: string, rules: DestinationRules, field: string): string {
  if (isFunction(url)) {
    throw badDestination(`${field} is ${quote(url)}; the endpoint of a workflow is a URL.`);
  }
  return urlOf({ url }, [], rules, field);
}
