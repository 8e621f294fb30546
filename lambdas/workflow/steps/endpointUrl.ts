import { badDestination, type DestinationRules } from '../../destination/destination.ts';
import { isArn } from '../../destination/arns.ts';
import { quote } from '../../error/httpError.ts';
import { urlOf } from '../../publish/prepare.ts';

/**
 * Reads the URL of an endpoint that a submission's body names. Endpoints of workflows are called by URL, never by ARN.
 *
 * @param field the field's name in the error's text
 * @throws HttpError 400 or 403
 */
export function endpointUrl(url: string, rules: DestinationRules, field: string): string {
  if (isArn(url)) {
    throw badDestination(`${field} is ${quote(url)}; the endpoint of a workflow is a URL.`);
  }
  return urlOf({ url }, [], rules, field);
}
