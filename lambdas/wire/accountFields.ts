/** The optional fields of an account. In a row, their names are in camel case. */
import * as z from 'zod/mini';
import { allowedCircuit, circuitInput } from '../circuit/shape.ts';
import {
  arnServices,
  formsOfPatterns,
  manyWithArns,
  patternsOf,
  type ArnService,
} from '../destination/arns.ts';
import { partOfEach, text } from '../options/option.ts';
import { allowedStatusList, parseStatusList } from '../value/statusList.ts';
import {
  allowedTlsIdentities,
  hasUniqueHosts,
  mostTlsIdentities,
  tlsHostOf,
  tlsName,
} from '../value/tlsIdentities.ts';

interface Field {
  /** The field in a request, where null removes it. */
  readonly input: z.ZodMiniType;
  /** The allowed values of the request in words. */
  readonly allowed: string;
  readonly answer: z.ZodMiniType;
  /** The field in the console's form; undefined if the form lacks it. */
  readonly form?: Form;
}

interface Form {
  readonly label: string;
  readonly placeholder: string;
  readonly hint: string;
  readonly type?: 'url' | 'number';
  /** The number of rows of a list, which has an item in each. */
  readonly rows?: number;
  readonly isCode?: true;
}

const mostArnPatterns = 50;
const arnPatterns = (services: readonly ArnService[], description: string) => {
  const pattern = new RegExp(`^arn:[\\w*-]+:${patternsOf(services, '[\\w*-]+:[\\d*]+')}$`);
  return {
    input: z
      .nullable(z.array(z.string().check(z.regex(pattern))).check(z.maxLength(mostArnPatterns)))
      .check(z.describe(description)),
    answer: z.optional(z.array(z.string())).check(z.describe(description)),
  };
};

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
const aboutTls = 'Certificates for TLS with destinations, by host: names of secrets.';

const aboutFailOn = 'Statuses that fail a message at once, unless it has `Svc-Fail-On`.';

/** Characters. */
const longestCallback = 2_048;
const aboutCallback = 'The URL that gets permanent failures of messages without a failure callback.';

const optionalFields = {
  enterprise: {
    input: z.nullable(z.strictObject({ enabled: z.boolean() })),
    allowed: '{"enabled": true or false}, or null',
    answer: z.optional(z.object({ enabled: z.boolean() })),
  },
  circuit: {
    input: z.nullable(circuitInput),
    allowed: `{"enabled": true or false, ${allowedCircuit}}, in whole numbers, or null`,
    answer: z.optional(circuitInput),
  },
  destinations: {
    ...arnPatterns(
      arnServices,
      `${manyWithArns} that messages may go to: ARNs, with \`*\` for any characters.`,
    ),
    allowed: `a list of up to ${mostArnPatterns} ARNs of the forms ${formsOfPatterns}, with * for any characters, or null`,
    form: {
      label: 'Destinations in AWS',
      placeholder: 'arn:aws:sqs:eu-central-1:123456789012:orders-*',
      hint: 'Queues, topics, buses and functions that messages may go to, one per line; * means any characters. The deployment must allow them too.',
      rows: 2,
      isCode: true,
    },
  },
  lambda_destinations: {
    ...arnPatterns(
      ['lambda'],
      'Lambda functions that messages may go to: ARNs, with `*` for any characters.',
    ),
    allowed: `a list of up to ${mostArnPatterns} ARNs of the form arn:aws:lambda:<region>:<account>:function:<name>, with * for any characters, or null`,
    form: {
      label: 'Lambda destinations',
      placeholder: 'arn:aws:lambda:eu-central-1:123456789012:function:orders-*',
      hint: 'More functions that messages may go to, one per line.',
      rows: 2,
      isCode: true,
    },
  },
  tls_identities: {
    input: z
      .nullable(z.array(tlsIdentity).check(z.maxLength(mostTlsIdentities), z.refine(hasUniqueHosts)))
      .check(z.describe(aboutTls)),
    allowed: `${allowedTlsIdentities}; or null`,
    answer: z
      .optional(
        z.array(z.object({ host: z.string(), ca: z.optional(z.string()), identity: z.optional(z.string()) })),
      )
      .check(z.describe(aboutTls)),
    form: {
      label: 'TLS identities',
      placeholder: 'hooks.example.com ca=private identity=acme',
      hint: 'One host per line (* for all others) with the names of certificates: its authority’s as ca, this account’s as identity.',
      rows: 2,
      isCode: true,
    },
  },
  fail_on: {
    input: z
      .nullable(z.string().check(z.refine((value) => parseStatusList(value) !== undefined)))
      .check(z.describe(aboutFailOn)),
    allowed: `${allowedStatusList}, or null`,
    answer: z.optional(text(aboutFailOn)),
    form: {
      label: 'Permanent failure statuses',
      placeholder: '400-499,!408,!429',
      hint: 'Statuses that are not retried, unless a message says otherwise.',
    },
  },
  failure_callback: {
    input: z.nullable(z.string().check(z.maxLength(longestCallback))).check(z.describe(aboutCallback)),
    allowed: `a URL that starts with http:// or https://, of at most ${longestCallback} characters, or null`,
    answer: z.optional(text(`${aboutCallback} Shown without \`user:password\`.`)),
    form: {
      label: 'Failure callback',
      placeholder: 'https://example.com/failed',
      hint: 'Gets the permanent failures of messages without a failure callback.',
      type: 'url',
    },
  },
} as const satisfies Readonly<Record<string, Field>>;
export type OptionalField = keyof typeof optionalFields;

const isOptional = (name: string): name is OptionalField => Object.hasOwn(optionalFields, name);
export const optionalNames: readonly OptionalField[] = Object.keys(optionalFields).filter(isOptional);

export const optionalInputs = partOfEach(optionalFields, 'input');
export const optionalAllowed = partOfEach(optionalFields, 'allowed');
export const optionalAnswers = partOfEach(optionalFields, 'answer');

/** The form's fields, lists last. */
export const optionalForms = optionalNames
  .flatMap((name): readonly (readonly [OptionalField, Form])[] => {
    const { form }: Field = optionalFields[name];
    return form === undefined ? [] : [[name, form]];
  })
  .toSorted(([, { rows: one = 0 }], [, { rows: other = 0 }]) => one - other);
