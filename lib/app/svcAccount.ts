/** An account of the service in an app of the CDK. */
import { Stack, Token } from 'aws-cdk-lib';
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

/** The limits of an account: docs/limits.md has the unit and the range of each. */
export type SvcLimits = Readonly<Partial<Record<LimitName, number>>>;

/** Certificates for TLS with one host. At least one of `ca` and `identity` is given. */
export interface SvcTlsIdentity {
  /** A host without its port, or `*` for all hosts that have no entry. */
  readonly host: string;
  /**
   * The name of certificates of authorities, which are trusted in addition to the public ones: the secret `<name of the queue>/tls/<ca>`.
   *
   * @default only the public ones
   */
  readonly ca?: string;
  /**
   * The name of a certificate and its key, which are shown to the host: the secret `<name of the queue>/tls/<identity>`.
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
   * The URL of the failure callback for messages that have no failure callback themselves. It is in the template: put no secrets there.
   * It must not come from a stack that `grantPublish` is called for, because that one needs the account.
   *
   * @default none
   */
  readonly failureCallback?: string;
  /**
   * Statuses that fail a message at once if it has no `Svc-Fail-On`, such as `400-499,!408,!429`.
   *
   * @default none
   */
  readonly failOn?: string;
  /**
   * Patterns of the ARNs of queues, topics, buses and functions that messages of the account may go to, as in the prop
   * `destinations` of the queue, which has to allow them, too. They must not come from a stack that `grantPublish` is called for.
   *
   * @default none
   */
  readonly destinations?: readonly string[];
  /**
   * Patterns of the ARNs of Lambda functions that messages of the account may go to, as in the prop `lambdaDestinations` of the
   * queue, which has to allow them, too. They must not come from a stack that `grantPublish` is called for.
   *
   * @default none
   */
  readonly lambdaDestinations?: readonly string[];
  /**
   * Certificates for TLS with destinations, up to 50 hosts. You make the secrets yourself: see docs/tls.md.
   *
   * @default none
   */
  readonly tlsIdentities?: readonly SvcTlsIdentity[];
  /**
   * Any text. Change it after tokens or signing keys were rotated: the deployment then writes the secret again, and the functions
   * of `grantPublish` get what is in it.
   *
   * @default none
   */
  readonly rotation?: string;
}

/** The fields of an account as the management API takes them. */
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

/** Names each prop that is wrong. Values that are known only at deployment are checked there. */
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

/** Names each limit that is not in its range. */
function faultsInLimits(limits: SvcLimits): readonly string[] {
  const known = new Map<string, { readonly least: number; readonly most: number }>(
    // A deployment without instances allows less, and refuses it then.
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
  readonly url: string;
  readonly rotation: string | undefined;
}

/** The variables of the published clients that the secret has. */
const secretVariables = ['QSTASH_TOKEN', 'QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'] as const;

/** Made by `queue.account`. */
export class SvcAccount extends Construct {
  /** The id of the account in the service. */
  readonly accountId: string;
  /**
   * The secret with the credentials: a JSON object of `QSTASH_URL`, `QSTASH_TOKEN`, `QSTASH_READ_ONLY_TOKEN`,
   * `QSTASH_CURRENT_SIGNING_KEY` and `QSTASH_NEXT_SIGNING_KEY`.
   */
  readonly secret: ISecret;
  readonly #url: string;
  readonly #rotation: string | undefined;

  constructor(scope: Construct, id: string, made: Made) {
    super(scope, id);
    this.accountId = made.accountId;
    this.secret = made.secret;
    this.#url = made.url;
    this.#rotation = made.rotation;
  }

  /**
   * Gives a function the variables that the published clients read: `QSTASH_URL`, `QSTASH_TOKEN`, `QSTASH_CURRENT_SIGNING_KEY` and
   * `QSTASH_NEXT_SIGNING_KEY`.
   *
   * Their values are then visible to everybody who may read the function's configuration (`lambda:GetFunctionConfiguration`), and
   * to the code of the function; they are in no template and in no output. Use `grantRead` where that is too many.
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
    fn.addEnvironment('QSTASH_URL', this.#url);
    for (const name of secretVariables)
      fn.addEnvironment(name, this.secret.secretValueFromJson(name).unsafeUnwrap());
    // CloudFormation looks into the secret again only when something else of the function has changed.
    if (this.#rotation !== undefined) fn.addEnvironment('SVC_ROTATION', this.#rotation);
  }

  /** Lets a function, or another identity, read the secret when it runs. */
  grantRead(grantee: IGrantable): Grant {
    return this.secret.grantRead(grantee);
  }
}

const placeOf = ({ account, region }: Stack): string =>
  [account, region].map((part) => (part.includes('Token') ? 'any' : part)).join('/');
