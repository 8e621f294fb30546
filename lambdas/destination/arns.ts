/** Destinations in AWS, named by ARN instead of a URL. */
import { badRequest } from '../error/httpError.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';
import type { ArnKind } from './kinds/arnKind.ts';
import * as events from './kinds/events.ts';
import * as lambda from './kinds/lambda.ts';
import * as sns from './kinds/sns.ts';
import * as sqs from './kinds/sqs.ts';

/** How ARNs end, by service. This is enough to read requests. */
const resources = {
  lambda: lambda.resource,
  sqs: sqs.resource,
  sns: sns.resource,
  events: events.resource,
};
export type ArnService = keyof typeof resources;

export const arnKinds: Readonly<Record<ArnService, ArnKind>> = {
  lambda: lambda.kind,
  sqs: sqs.kind,
  sns: sns.kind,
  events: events.kind,
};

// Written out, because each cold start of a publish loads them. A test compares them with the kinds.
export const whatHasArns = 'function, queue, topic or bus';
export const formsOfArns =
  'arn:aws:sqs:<region>:<account>:<queue>, …:sns:…:<topic>, …:events:…:event-bus/<name> or …:lambda:…:function:<name>[:<alias or version>]';

const isService = (text: string): text is ArnService => Object.hasOwn(resources, text);
export const arnServices: readonly ArnService[] = /* @__PURE__ */ Object.keys(resources).filter(isService);

/** Lists what is said about each kind. Functions come last. */
function listed(word: 'and' | 'or', say: (kind: ArnKind, service: ArnService) => string): string {
  const services: readonly ArnService[] = [...arnServices.filter((one) => one !== 'lambda'), 'lambda'];
  const all = services.map((service) => say(arnKinds[service], service));
  return `${all.slice(0, -1).join(', ')} ${word} ${all.at(-1) ?? ''}`;
}
export const oneWithArn = /* @__PURE__ */ listed('or', ({ one }) => one);
export const manyWithArns = /* @__PURE__ */ listed('and', ({ many }) => many);
export const formsOfPatterns = /* @__PURE__ */ listed(
  'and',
  ({ form }, service) => `arn:aws:${service}:<region>:<account>:${form.replace(/\[.*/, '')}`,
);

const anyOf = (parts: readonly string[]): string =>
  parts.length === 1 ? parts.join() : `(${parts.join('|')})`;

/**
 * A regular expression for patterns of ARNs, after the partition.
 *
 * @param place that of the region and the account
 */
export const patternsOf = (services: readonly ArnService[], place: string): string =>
  anyOf(
    [...new Set(services.map((service) => arnKinds[service].patterns))].map(
      (end) => `${anyOf(services.filter((one) => arnKinds[one].patterns === end))}:${place}:${end}`,
    ),
  );

const form = /* @__PURE__ */ new RegExp(
  `^arn:aws(-cn|-us-gov)?:(${Object.entries(resources)
    .map(([service, end]) => `${service}:[a-z]{2}(-[a-z]+)+-\\d:\\d{12}:${end}`)
    .join('|')})$`,
);

export const isDestinationArn = (text: string): boolean => form.test(text);

export const isArn = (destination: string): boolean => destination.startsWith('arn:');

export const isFunction = (destination: string): boolean => /^arn:[^:]*:lambda:/.test(destination);

export interface DestinationArn {
  readonly partition: string;
  readonly service: ArnService;
  readonly region: string;
  readonly accountId: string;
  readonly resource: string;
}

/** @throws Error for a text that is not from {@link parseArn} */
export function readArn(arn: string): DestinationArn {
  const [, partition = '', service = '', region = '', accountId = '', ...resource] = arn.split(':');
  if (!isDestinationArn(arn) || !isService(service))
    throw new Error(`${arn} is not the ARN of a destination.`);
  return { partition, service, region, accountId, resource: resource.join(':') };
}

export function parseArn(field: string, text: string): string {
  if (isDestinationArn(text)) return text;
  throw badRequest('destination_invalid', `${field} is ${quoteUrl(text)}; allowed ARNs are ${formsOfArns}.`);
}

/** Whether an ARN matches a pattern. `*` matches any characters, as in IAM policies. */
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
  /**
   * The deployment's settings `destinations` and `lambdaDestinations`. Its role cannot send to anything else.
   */
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
