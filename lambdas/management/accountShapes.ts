import * as z from 'zod/mini';
import { optionalField, orNull } from '../shared/json.ts';
import { scopes, type TokenScope } from '../account/namedToken.ts';
import { eachLimit, plans } from '../value/limits.ts';
import { optionalAllowed, optionalInputs } from '../wire/accountFields.ts';

/** Characters. E-mail addresses have at most 320. */
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

/**
 * `null` restores the plan's value, or removes the value. In fields with `orNull` alone, `null` has no
 * effect.
 */
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
  ...optionalInputs,
  ...eachLimit((_, { least, most }) =>
    z
      .nullable(z.int().check(z.minimum(least), z.maximum(most)))
      .check(z.describe('In the unit of the record; `null` means the plan’s value.')),
  ),
} as const;
export type AccountField = keyof typeof accountFields;

const allowedText = `a text of 1 to ${longestText} characters, none of them half of one`;

/** The allowed values in words, except for `region`, which depends on the deployment. */
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
  ...optionalAllowed,
  ...eachLimit((_, { least, most }) => `a whole number from ${least} to ${most}, or null for the plan's own`),
};

export const changedAccountInput = z.partial(z.strictObject(accountFields));
export type AccountInput = z.infer<typeof changedAccountInput>;

/** The most accounts that fit into Lambda's 6 MB. */
export const longestAccountPage = 2_000;

export const accountId = z.uuid().check(z.describe('A UUID; a random one by default.'));
/** If the request has an id, repeating it does not make a second account. */
export const newAccountInput = z.extend(changedAccountInput, { id: optionalField(accountId) });

const longestTokenName = 100;
/** The most destinations of a named token, and the most characters of one. */
const mostDestinations = 20;
const longestDestination = 200;
/** Unix seconds. A larger number is probably meant as milliseconds. */
const latestSeconds = 9_999_999_999;

export const newTokenInput = z.strictObject({
  name: z
    .string()
    .check(z.minLength(1), z.maxLength(longestTokenName), z.describe('The purpose of the token.')),
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

export const rotatedTokenInput = z.strictObject({
  overlap: optionalField(
    z
      .string()
      .check(
        z.describe(
          'How long the earlier secret is accepted as well: `24h` by default, from `0s`, for one that leaked, to `7d`.',
        ),
      ),
  ),
});

const allowedTokenOf = (allowed: readonly TokenScope[]): string =>
  `{"name", "scope", "destinations"?, "expires_at"?}, with a name of 1 to ${longestTokenName} characters, the scope ${allowed.join(', ')}, 1 to ${mostDestinations} destinations of 1 to ${longestDestination} characters, and Unix seconds as expires_at`;

export const allowedToken = allowedTokenOf(scopes);
export const allowedOwnToken = allowedTokenOf(ownScopes);
