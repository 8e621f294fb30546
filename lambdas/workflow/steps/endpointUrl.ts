import { badDestination, type DestinationRules } from '../../destination/destination.ts';
import { isArn } from '../../destination/arns.ts';
import { isPull } from '../../destination/pull.ts';
import { quote } from '../../error/httpError.ts';
import { urlOf } from '../../publish/prepare.ts';

/**
 * Reads an endpoint from a submission's body. It must be a URL.
 *
 * @throws HttpError 400 or 403
 */
export function endpointUrl(url: string, rules: DestinationRules, field: string): string {
  if (isArn(url) || isPull(url)) {
    throw badDestination(`${field} is ${quote(url)}; the endpoint of a workflow is a URL.`);
  }
  return urlOf({ url }, [], rules, field);
}
