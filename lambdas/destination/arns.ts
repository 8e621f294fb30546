/** Destinations in AWS, named by ARN instead of a URL. */
import { badRequest } from '../error/httpError.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';

/** The services that take messages, with the form of an ARN after the account. */
const resources = {
  /** An alias has at most 128 characters. */
  lambda: /^function:[\w-]{1,64}(:(\$LATEST|[\w-]{1,128}))?$/,
  sqs: /^([\w-]{1,75}\.fifo|[\w-]{1,80})$/,
  sns: /^([\w-]{1,251}\.fifo|[\w-]{1,256})$/,
  events: /^event-bus\/[\w.-]{1,256}$/,
} as const;
export type DestinationService = keyof typeof resources;

const form = /^arn:(aws(?:-cn|-us-gov)?):(\w+):([a-z]{2}(?:-[a-z]+)+-\d):(\d{12}):(.+)$/s;

export const formsOfArns =
  'arn:aws:sqs:<region>:<account>:<queue>, …:sns:…:<topic>, …:events:…:event-bus/<name> or …:lambda:…:function:<name>[:<alias or version>]';

export const isArn = (destination: string): boolean => destination.startsWith('arn:');

export const isFunction = (destination: string): boolean => /^arn:[^:]*:lambda:/.test(destination);

export interface DestinationArn {
  readonly partition: string;
  readonly service: DestinationService;
  readonly region: string;
  readonly accountId: string;
  readonly resource: string;
}

const isService = (text: string): text is DestinationService => Object.hasOwn(resources, text);

/** Undefined for an invalid ARN. */
export function partsOfArn(text: string): DestinationArn | undefined {
  const [, partition = '', service = '', region = '', accountId = '', resource = ''] = form.exec(text) ?? [];
  return isService(service) && resources[service].test(resource)
    ? { partition, service, region, accountId, resource }
    : undefined;
}

/** @throws Error for a text that is not from {@link parseArn} */
export function readArn(arn: string): DestinationArn {
  const parts = partsOfArn(arn);
  if (parts === undefined) throw new Error(`${arn} is not the ARN of a destination.`);
  return parts;
}

/**
 * @param field for the error
 * @throws HttpError 400
 */
export function parseArn(field: string, text: string): string {
  if (partsOfArn(text) !== undefined) return text;
  throw badRequest('destination_invalid', `${field} is ${quoteUrl(text)}; allowed ARNs are ${formsOfArns}.`);
}

/** In a pattern, `*` is any characters, as in IAM policies. */
export function matchesArn(pattern: string, arn: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === arn;
  if (!arn.startsWith(first)) return false;
  let end = first.length;
  for (const part of others) {
    const found = arn.indexOf(part, end);
    if (found === -1) return false;
    end = found + part.length;
  }
  return arn.length - last.length >= end && arn.endsWith(last);
}

/** Patterns of ARNs. A message's destination must match both lists. */
export interface AllowedArns {
  /** The deployment's settings `destinations` and `lambdaDestinations`: its role can send to nothing else. */
  readonly deployment: readonly string[];
  /** The account's fields `destinations` and `lambda_destinations`. */
  readonly account: readonly string[];
}

/** @returns the name of the list that refuses an ARN; undefined if both allow it */
export function refusingList(arn: string, allowed: AllowedArns): string | undefined {
  const has = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesArn(pattern, arn));
  const [setting, field] = isFunction(arn)
    ? ['lambdaDestinations', 'lambda_destinations']
    : ['destinations', 'destinations'];
  if (!has(allowed.deployment)) return `the setting ${setting} of the deployment`;
  return has(allowed.account) ? undefined : `the field ${field} of the account`;
}
