import * as z from 'zod/mini';
import { allowedCircuit, circuitInput } from '../circuit/shape.ts';
import {
  arnServices,
  formsOfPatterns,
  manyWithArns,
  patternsOf,
  type ArnService,
} from '../destination/arns.ts';
import { optionalField, orNull } from '../shared/json.ts';
import { scopes, type TokenScope } from '../account/namedToken.ts';
import { eachLimit, plans } from '../value/limits.ts';
import { allowedStatusList, parseStatusList } from '../value/statusList.ts';
import {
  allowedTlsIdentities,
  hasUniqueHosts,
  mostTlsIdentities,
  tlsHostOf,
  tlsName,
} from '../value/tlsIdentities.ts';

/** Characters. An e-mail address has at most 320. */
const longestText = 320;
const mostDollars = 1_000_000_000;

const text = (description: string) =>
  z.string().check(
    z.minLength(1),
    z.maxLength(longestText),
    z.refine((value) => value.isWellFormed()),
    z.describe(description),
  );

const dollars = () => z.int().check(z.minimum(0), z.maximum(mostDollars));

const arnPattern = (services: readonly ArnService[]) =>
  z.string().check(z.regex(new RegExp(`^arn:[\\w*-]+:${patternsOf(services, '[\\w*-]+:[\\d*]+')}$`)));
const mostArnPatterns = 50;
const tlsIdentity = z
  .strictObject({
    host: z.string().check(
      z.refine((host) => tlsHostOf(host) !== undefined),
      z.describe('A host without its port, or `*` for all hosts that have no entry.'),
    ),
    ca: z.optional(
      z
        .string()
        .check(
          z.regex(tlsName),
          z.describe('The name of certificates of authorities, trusted in addition to the public ones.'),
        ),
    ),
    identity: z.optional(
      z.string().check(z.regex(tlsName), z.describe('The name of a certificate and its key.')),
    ),
  })
  .check(z.refine(({ ca, identity }) => ca !== undefined || identity !== undefined));
/** Characters. */
const longestCallback = 2_048;

/** `null` restores the plan's value, or removes the value. A field with neither (`orNull`) ignores it. */
export const accountFields = {
  customer_id: orNull(text('The customer: an e-mail address or a team.')),
  created_by: orNull(text('The e-mail address of the user who created the account.')),
  type: orNull(z.enum(plans)),
  region: orNull(text('Its region.')),
  active: orNull(z.boolean().check(z.describe('`false`: its tokens are refused, its messages are held.'))),
  state: orNull(z.enum(['active', 'passive']).check(z.describe('The same as a word.'))),
  budget: orNull(dollars().check(z.describe('Dollars a month; 0 is no limit.'))),
  reserved_type: z.nullable(
    z.string().check(z.regex(/^(svc_fixed(_1m|_10m|_100m)?|enterprise:[\w.-]{1,100})?$/)),
  ),
  reserved_price: z.nullable(dollars()),
  prod_pack_enabled: orNull(z.boolean()),
  prometheus_enabled: orNull(
    z.enum(['true', 'false']).check(z.describe('Whether its usage is exported as separate metrics.')),
  ),
  enterprise: z.nullable(z.strictObject({ enabled: z.boolean() })),
  circuit: z.nullable(circuitInput),
  destinations: z
    .nullable(z.array(arnPattern(arnServices)).check(z.maxLength(mostArnPatterns)))
    .check(z.describe(`${manyWithArns} that messages may go to: ARNs, with \`*\` for any characters.`)),
  lambda_destinations: z
    .nullable(z.array(arnPattern(['lambda'])).check(z.maxLength(mostArnPatterns)))
    .check(z.describe('Lambda functions that messages may go to: ARNs, with `*` for any characters.')),
  tls_identities: z
    .nullable(z.array(tlsIdentity).check(z.maxLength(mostTlsIdentities), z.refine(hasUniqueHosts)))
    .check(z.describe('Certificates for TLS with destinations, by host: names of secrets.')),
  fail_on: z
    .nullable(z.string().check(z.refine((value) => parseStatusList(value) !== undefined)))
    .check(z.describe('Statuses that fail a message at once, unless it has `Svc-Fail-On`.')),
  failure_callback: z
    .nullable(z.string().check(z.maxLength(longestCallback)))
    .check(z.describe('The URL that gets permanent failures of messages without a failure callback.')),
  ...eachLimit((_, { least, most }) =>
    z
      .nullable(z.int().check(z.minimum(least), z.maximum(most)))
      .check(z.describe('In the unit of the record; `null` means the plan’s value.')),
  ),
} as const;
export type AccountField = keyof typeof accountFields;

const allowedText = `a text of 1 to ${longestText} characters, none of them half of one`;

/** The allowed values in words. `region` is missing, because it depends on the deployment. */
export const allowedValues: Readonly<Record<Exclude<AccountField, 'region'>, string>> = {
  customer_id: allowedText,
  created_by: allowedText,
  type: 'free or paid',
  active: 'true or false',
  state: 'active or passive',
  budget: `a whole number of dollars from 0 to ${mostDollars}; 0 is no limit`,
  reserved_type:
    'svc_fixed_1m, svc_fixed_10m, svc_fixed_100m, svc_fixed, enterprise:<identifier>, an empty text, or null',
  reserved_price: `a whole number of dollars from 0 to ${mostDollars}, or null`,
  prod_pack_enabled: 'true or false',
  prometheus_enabled: 'the text "true" or the text "false"',
  enterprise: '{"enabled": true or false}, or null',
  circuit: `{"enabled": true or false, ${allowedCircuit}}, in whole numbers, or null`,
  destinations: `a list of up to ${mostArnPatterns} ARNs of the forms ${formsOfPatterns}, with * for any characters, or null`,
  lambda_destinations: `a list of up to ${mostArnPatterns} ARNs of the form arn:aws:lambda:<region>:<account>:function:<name>, with * for any characters, or null`,
  tls_identities: `${allowedTlsIdentities}; or null`,
  fail_on: `${allowedStatusList}, or null`,
  failure_callback: `a URL that starts with http:// or https://, of at most ${longestCallback} characters, or null`,
  ...eachLimit((_, { least, most }) => `a whole number from ${least} to ${most}, or null for the plan's own`),
};

export const changedAccountInput = z.partial(z.strictObject(accountFields));
export type AccountInput = z.infer<typeof changedAccountInput>;

/** This many accounts fit into Lambda's 6 MB. */
export const longestAccountPage = 2_000;

export const accountId = z.uuid().check(z.describe('A UUID; a random one by default.'));
/** With an id in the request, a repeated request makes only one account. */
export const newAccountInput = z.extend(changedAccountInput, { id: optionalField(accountId) });

const longestTokenName = 100;
/** The most destinations of a named token, and the characters of one. */
const mostDestinations = 20;
const longestDestination = 200;
/** Unix seconds. A larger number is probably in milliseconds. */
const latestSeconds = 9_999_999_999;

export const newTokenInput = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(longestTokenName), z.describe('What it is for.')),
  scope: z
    .enum(scopes)
    .check(
      z.describe(
        '`full`: everything. `read`: operations that change nothing. `publish`: publish and notify.',
      ),
    ),
  destinations: optionalField(
    z
      .array(z.string().check(z.minLength(1), z.maxLength(longestDestination)))
      .check(
        z.minLength(1),
        z.maxLength(mostDestinations),
        z.describe(
          'Only with the scope `publish`: the destinations that it may publish to, as beginnings of URLs, ARNs of destinations in AWS, `group:<name>` for a URL group (a plain name as well), and `queue:<name>`, which permits the queue but no destination.',
        ),
      ),
  ),
  expires_at: optionalField(
    z.int().check(z.minimum(1), z.maximum(latestSeconds), z.describe('When it expires, in Unix seconds.')),
  ),
});

const ownScopes = ['read', 'publish'] as const satisfies readonly TokenScope[];

export const newOwnTokenInput = z.strictObject({
  ...newTokenInput.shape,
  scope: z
    .enum(ownScopes)
    .check(z.describe('`read`: operations that change nothing. `publish`: publish and notify.')),
});

const allowedTokenOf = (allowed: readonly TokenScope[]): string =>
  `{"name", "scope", "destinations"?, "expires_at"?}, with a name of 1 to ${longestTokenName} characters, the scope ${allowed.join(', ')}, 1 to ${mostDestinations} destinations of 1 to ${longestDestination} characters, and Unix seconds as expires_at`;

export const allowedToken = allowedTokenOf(scopes);
export const allowedOwnToken = allowedTokenOf(ownScopes);
