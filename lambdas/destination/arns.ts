/** Destinations in AWS: a message names one by its ARN, wherever a URL may stand. */
import { badRequest } from '../error/httpError.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';

/** The services that take messages, each with the form of what follows the account in its ARNs. */
const resources = {
  /** 128 characters are the longest alias. */
  lambda: /^function:[\w-]{1,64}(:(\$LATEST|[\w-]{1,128}))?$/,
  sqs: /^([\w-]{1,75}\.fifo|[\w-]{1,80})$/,
  sns: /^([\w-]{1,251}\.fifo|[\w-]{1,256})$/,
  events: /^event-bus\/[\w.-]{1,256}$/,
} as const;
export type DestinationService = keyof typeof resources;

const form = /^arn:(aws(?:-cn|-us-gov)?):(\w+):([a-z]{2}(?:-[a-z]+)+-\d):(\d{12}):(.+)$/s;

export const formsOfArns =
  'arn:aws:sqs:<region>:<account>:<queue>, …:sns:…:<topic>, …:events:…:event-bus/<name> or …:lambda:…:function:<name>[:<alias or version>]';

/** Whether a destination is named by its ARN. One that was parsed, and begins so, is. */
export const isArn = (destination: string): boolean => destination.startsWith('arn:');

/** Whether a destination is a Lambda function. */
export const isFunction = (destination: string): boolean => /^arn:[^:]*:lambda:/.test(destination);

/** The parts of the ARN of a destination. */
export interface DestinationArn {
  readonly partition: string;
  readonly service: DestinationService;
  readonly region: string;
  /** The number of the AWS account that has it. */
  readonly accountId: string;
  /** What follows the account: the name of a queue or a topic. */
  readonly resource: string;
}

const isService = (text: string): text is DestinationService => Object.hasOwn(resources, text);

/** Reads the ARN of a destination; undefined for a text that is none. */
export function partsOfArn(text: string): DestinationArn | undefined {
  const [, partition = '', service = '', region = '', accountId = '', resource = ''] = form.exec(text) ?? [];
  return isService(service) && resources[service].test(resource)
    ? { partition, service, region, accountId, resource }
    : undefined;
}

/** Reads the ARN that {@link parseArn} returned. @throws Error for another text */
export function readArn(arn: string): DestinationArn {
  const parts = partsOfArn(arn);
  if (parts === undefined) throw new Error(`${arn} is not the ARN of a destination.`);
  return parts;
}

/**
 * Parses the ARN of a destination.
 *
 * @param field the field's name in the error's text
 * @throws HttpError 400
 */
export function parseArn(field: string, text: string): string {
  if (partsOfArn(text) !== undefined) return text;
  throw badRequest('destination_invalid', `${field} is ${quoteUrl(text)}; allowed ARNs are ${formsOfArns}.`);
}

/** Whether an ARN is as a pattern has it, in which `*` stands for any characters, as in a policy of IAM. */
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

/** Patterns of ARNs. A message may go to what both lists have. */
export interface AllowedArns {
  /** The settings `destinations` and `lambdaDestinations` of the deployment: its role may send to nothing else. */
  readonly deployment: readonly string[];
  /** The fields `destinations` and `lambda_destinations` of the account. */
  readonly account: readonly string[];
}

/**
 * Finds the list that refuses an ARN.
 *
 * @returns the words for it; undefined where both lists have the ARN
 */
export function refusingList(arn: string, allowed: AllowedArns): string | undefined {
  const has = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesArn(pattern, arn));
  const [setting, field] = isFunction(arn)
    ? ['lambdaDestinations', 'lambda_destinations']
    : ['destinations', 'destinations'];
  if (!has(allowed.deployment)) return `the setting ${setting} of the deployment`;
  return has(allowed.account) ? undefined : `the field ${field} of the account`;
}
