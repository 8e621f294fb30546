/** Lambda functions as destinations: a message names one by its ARN, wherever a URL may stand. */
import { badRequest } from '../error/httpError.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';

/** The account and the name are those of Lambda's API; 128 characters are the longest alias. */
const form =
  /^arn:aws(?:-cn|-us-gov)?:lambda:([a-z]{2}(?:-[a-z]+)+-\d):(\d{12}):function:([\w-]{1,64})(?::(?:\$LATEST|[\w-]{1,128}))?$/;

export const formOfArn = 'arn:aws:lambda:<region>:<account>:function:<name>[:<alias or version>]';

/** Whether a destination is a function. One that was parsed, and begins so, is. */
export const isFunction = (destination: string): boolean => destination.startsWith('arn:');

/** Whether a text has the form of the ARN of a function. */
export const isArnOfFunction = (text: string): boolean => form.test(text);

/**
 * Parses the ARN of a function.
 *
 * @param field the field's name in the error's text
 * @throws HttpError 400
 */
export function parseFunction(field: string, text: string): string {
  if (isArnOfFunction(text)) return text;
  throw badRequest(
    'destination_invalid',
    `${field} is ${quoteUrl(text)}; the ARN of a Lambda function has the form ${formOfArn}.`,
  );
}

/** The parts of a function's ARN. */
export interface FunctionName {
  readonly region: string;
  /** The number of the AWS account that has it. */
  readonly accountId: string;
}

/** Reads the ARN that {@link parseFunction} returned. */
export function functionOf(arn: string): FunctionName {
  const [, region = '', accountId = ''] = form.exec(arn) ?? [];
  return { region, accountId };
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

/** Patterns of the ARNs of functions. A message may go to a function that both lists have. */
export interface AllowedFunctions {
  /** The setting `lambdaDestinations` of the deployment: no other function may be invoked by its role. */
  readonly deployment: readonly string[];
  /** The field `lambda_destinations` of the account. */
  readonly account: readonly string[];
}

/**
 * Finds the list that refuses a function.
 *
 * @returns the words for it; undefined where both lists have the function
 */
export function refusingList(arn: string, allowed: AllowedFunctions): string | undefined {
  const has = (patterns: readonly string[]): boolean => patterns.some((pattern) => matchesArn(pattern, arn));
  if (!has(allowed.deployment)) return 'the setting lambdaDestinations of the deployment';
  return has(allowed.account) ? undefined : 'the field lambda_destinations of the account';
}
