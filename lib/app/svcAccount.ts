import { SecretValue, Stack, Token } from 'aws-cdk-lib';
import type { Grant, IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { longestTimeoutSeconds } from '../../lambdas/aws/resources.ts';
import { limitTable, type LimitName } from '../../lambdas/value/limits.ts';
import { allowedStatusList, parseStatusList } from '../../lambdas/value/statusList.ts';
import {
  allowedTlsIdentities,
  hasUniqueHosts,
  tlsHostOf,
  tlsName,
  mostTlsIdentities,
} from '../../lambdas/value/tlsIdentities.ts';
import {
  allowedDestinationPattern,
  allowedFunctionPattern,
  destinationPattern,
  functionPattern,
} from '../settingTypes.ts';

/** The limits of an account, with the units and ranges of docs/limits.md. */
export type SvcLimits = Readonly<Partial<Record<LimitName, number>>>;

/** Certificates for TLS with one host. At least one of `ca` and `identity` is required. */
export interface SvcTlsIdentity {
  /** A host without its port, or `*` for all other hosts. */
  readonly host: string;
  /**
   * Certificates of authorities that are trusted in addition to the public ones, in the secret `<name of the queue>/tls/<ca>`.
   *
   * @default only the public ones
   */
  readonly ca?: string;
  /**
   * A certificate with its key that is shown to the host, in the secret `<name of the queue>/tls/<identity>`.
   *
   * @default none
   */
  readonly identity?: string;
}

export interface SvcAccountProps {
  /**
   * The plan, which gives the limits that are not set.
   *
   * @default 'paid'
   */
  readonly plan?: 'free' | 'paid';
  /** @default those of the plan */
  readonly limits?: SvcLimits;
  /**
   * The URL of the failure callback for messages without one. The template shows it: put no secrets there. It must not come
   * from a stack that `grantPublish` is called for, because that stack depends on the account.
   *
   * @default none
   */
  readonly failureCallback?: string;
  /**
   * Statuses that fail a message permanently if it has no `Svc-Fail-On`, such as `400-499,!408,!429`.
   *
   * @default none
   */
  readonly failOn?: string;
  /**
   * Patterns of the ARNs of queues, topics, buses and functions that messages of the account may go to. The prop `destinations`
   * of the queue must allow them, too. They must not come from a stack that `grantPublish` is called for.
   *
   * @default none
   */
  readonly destinations?: readonly string[];
  /**
   * Patterns of the ARNs of Lambda functions that messages of the account may go to. The prop `lambdaDestinations` of the queue
   * must allow them, too. They must not come from a stack that `grantPublish` is called for.
   *
   * @default none
   */
  readonly lambdaDestinations?: readonly string[];
  /**
   * Certificates for TLS with destinations, up to 50 hosts. The operator makes the secrets: see docs/tls.md.
   *
   * @default none
   */
  readonly tlsIdentities?: readonly SvcTlsIdentity[];
  /**
   * Any text. Change it after a rotation of tokens or signing keys: the deployment then writes the secret again and updates the
   * functions of `grantPublish`.
   *
   * @default none
   */
  readonly rotation?: string;
}

export const fieldsOf = (
  id: string,
  {
    plan = 'paid',
    limits,
    failOn,
    failureCallback,
    destinations,
    lambdaDestinations,
    tlsIdentities,
  }: SvcAccountProps,
): Readonly<Record<string, unknown>> => ({
  type: plan,
  customer_id: id,
  ...limits,
  ...(failOn !== undefined && { fail_on: failOn }),
  ...(failureCallback !== undefined && { failure_callback: failureCallback }),
  ...(destinations !== undefined && { destinations }),
  ...(lambdaDestinations !== undefined && { lambda_destinations: lambdaDestinations }),
  ...(tlsIdentities !== undefined && { tls_identities: tlsIdentities }),
});

/** Describes each wrong prop. Values that are known only at deployment are checked then. */
export function faultsIn({
  limits = {},
  failOn,
  destinations = [],
  lambdaDestinations = [],
  tlsIdentities = [],
}: SvcAccountProps): readonly string[] {
  const faults = [
    ...faultsInPatterns('destinations', destinations, destinationPattern, allowedDestinationPattern),
    ...faultsInPatterns('lambdaDestinations', lambdaDestinations, functionPattern, allowedFunctionPattern),
  ];
  if (failOn !== undefined && !Token.isUnresolved(failOn) && parseStatusList(failOn) === undefined)
    faults.push(`failOn: must be ${allowedStatusList}; given is ${failOn}`);
  return [...faultsInLimits(limits), ...faults, ...faultsInTls(tlsIdentities)];
}

function faultsInTls(identities: readonly SvcTlsIdentity[]): readonly string[] {
  const isName = (name: string | undefined): boolean =>
    name === undefined || Token.isUnresolved(name) || tlsName.test(name);
  const isRight = ({ host, ca, identity }: SvcTlsIdentity): boolean =>
    (Token.isUnresolved(host) || tlsHostOf(host) !== undefined) &&
    [ca, identity].every(isName) &&
    (ca ?? identity) !== undefined;
  return identities.every(isRight) && identities.length <= mostTlsIdentities && hasUniqueHosts(identities)
    ? []
    : [`tlsIdentities: must be ${allowedTlsIdentities}; given is ${JSON.stringify(identities)}`];
}

const faultsInPatterns = (
  prop: string,
  patterns: readonly string[],
  form: RegExp,
  allowed: string,
): readonly string[] =>
  patterns.flatMap((pattern, index) =>
    Token.isUnresolved(pattern) || form.test(pattern)
      ? []
      : [`${prop}[${index.toString()}]: must be ${allowed}; given is ${pattern}`],
  );

function faultsInLimits(limits: SvcLimits): readonly string[] {
  const known = new Map<string, { readonly least: number; readonly most: number }>(
    // Deployments without instances allow less, and check it themselves.
    Object.entries({
      ...limitTable,
      timeout: { ...limitTable.timeout, most: longestTimeoutSeconds.instances },
    }),
  );
  return Object.entries(limits).flatMap(([name, value]) => {
    const limit = known.get(name);
    if (limit === undefined) return [`limits.${name}: there is no such limit`];
    const isRight = Number.isInteger(value) && value >= limit.least && value <= limit.most;
    const allowed = `allowed is a whole number from ${limit.least.toString()} to ${limit.most.toString()}`;
    return isRight ? [] : [`limits.${name}: ${allowed}; given is ${String(value)}`];
  });
}

interface Made {
  readonly accountId: string;
  readonly secret: ISecret;
  readonly secretArnIn: (stack: Stack) => string;
  readonly url: string;
  readonly rotation: string | undefined;
}

const secretVariables = ['QSTASH_TOKEN', 'QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'] as const;

/** An account, made by `queue.account`. */
export class SvcAccount extends Construct {
  readonly accountId: string;
  /**
   * The secret with the credentials: a JSON object of `QSTASH_URL`, `QSTASH_TOKEN`, `QSTASH_READ_ONLY_TOKEN`,
   * `QSTASH_CURRENT_SIGNING_KEY` and `QSTASH_NEXT_SIGNING_KEY`.
   */
  readonly secret: ISecret;
  readonly #made: Made;

  constructor(scope: Construct, id: string, made: Made) {
    super(scope, id);
    this.accountId = made.accountId;
    this.secret = made.secret;
    this.#made = made;
  }

  /**
   * Gives a function the variables that the published clients read: `QSTASH_URL`, `QSTASH_TOKEN`, `QSTASH_CURRENT_SIGNING_KEY`
   * and `QSTASH_NEXT_SIGNING_KEY`.
   *
   * Everybody with the right `lambda:GetFunctionConfiguration` can read their values, and so can the code of the function. No
   * template or output shows them. `grantRead` is stricter.
   *
   * @param fn in the AWS account and the first region of the queue
   * @throws Error for a function elsewhere
   */
  grantPublish(fn: LambdaFunction): void {
    const [there, here] = [Stack.of(fn), Stack.of(this.secret)];
    if (there.region !== here.region || there.account !== here.account)
      throw new Error(
        `${fn.node.path} is in ${placeOf(there)}, but the secret of ${this.node.id} is in ${placeOf(here)}. Give the stack of the ` +
          'function that region, and SvcQueue the AWS account of the stack (awsAccount), or neither of them one.',
      );
    const { secretArnIn, url, rotation } = this.#made;
    fn.addEnvironment('QSTASH_URL', url);
    const arn = secretArnIn(there);
    for (const jsonField of secretVariables)
      fn.addEnvironment(jsonField, SecretValue.secretsManager(arn, { jsonField }).unsafeUnwrap());
    // CloudFormation reads the secret again only if another property of the function has changed.
    if (rotation !== undefined) fn.addEnvironment('SVC_ROTATION', rotation);
  }

  /** Lets a function, or another identity, read the secret at run time. */
  grantRead(grantee: IGrantable): Grant {
    return this.secret.grantRead(grantee);
  }
}

const placeOf = ({ account, region }: Stack): string =>
  [account, region].map((part) => (part.includes('Token') ? 'any' : part)).join('/');
