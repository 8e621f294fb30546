/**
 * The stack of an app's accounts, schedules and URL groups, with the function that makes them. It exists only if an app makes
 * one.
 */
import { CfnOutput, CustomResource, Duration, ReferenceStrength, Stack, type StackProps } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { acceptSecret } from '../acknowledge.ts';
import { setFlags } from '../flags.ts';
import { type CodeOf, SvcFunction } from '../functions/function.ts';
import { Rights } from '../functions/rights.ts';
import { namesOf, queueArn, secretArn, tableArn } from '../names.ts';
import type { ServiceStack } from '../serviceStack.ts';
import type { Settings } from '../settings.ts';
import { allow, writeTrails } from '../statements.ts';

interface AccountsStackProps extends StackProps {
  readonly settings: Settings;
  readonly home: ServiceStack;
  readonly codeOf: CodeOf;
}

/** The function's timeout. CloudFormation waits a minute longer, instead of an hour. */
const timeout = Duration.minutes(2);

interface Provided {
  readonly kind: 'account' | 'schedule' | 'urlGroup';
  /** Properties that `lambdas/provision/event.ts` describes. */
  readonly [name: string]: unknown;
}

export class AccountsStack extends Stack {
  readonly #provision: SvcFunction;
  readonly #names: ReturnType<typeof namesOf>;

  constructor(scope: Construct, id: string, { settings, home, codeOf, ...props }: AccountsStackProps) {
    super(scope, id, props);
    setFlags(this);
    this.#names = namesOf(settings);
    this.#provision = new SvcFunction(this, 'Provision', {
      environment: home.variables,
      settings,
      codeOf,
      handler: 'provision',
      description: 'Makes the resources of apps: accounts, schedules, URL groups',
      timeout,
      may: this.#rights(settings, new Rights(this, home.resources)),
    });
  }

  /** For templates of other tools, which make accounts and let the role write their secrets. */
  outputFunction(): void {
    const { functionArn, role } = this.#provision;
    new CfnOutput(this, 'Function', { value: functionArn });
    new CfnOutput(this, 'Role', { value: role?.roleName ?? '' });
  }

  makeAccount(id: string, accountId: string, input: Readonly<Record<string, unknown>>): Secret {
    const place = new Construct(this, id);
    const secret = new Secret(place, 'Secret', {
      description: `The token and the signing keys of the account ${id}`,
    });
    // CloudFormation refuses to delete an export while another stack imports it, and this stack is deployed before the app's
    // stacks, so an account could never be deleted with its grants. A weak reference (`Fn::GetStackOutput`) imports nothing.
    secret.applyCrossStackReferenceStrength(ReferenceStrength.WEAK);
    acceptSecret(
      secret,
      'The service derives what is in it. A rotation is a command of the operator, and a deployment follows it.',
    );
    this.#provision.addToRolePolicy(allow(['secretsmanager:PutSecretValue'], secret.secretArn));
    this.provide(place, 'Account', { ...input, id: accountId, kind: 'account', secret: secret.secretArn });
    new StringParameter(place, 'SecretArn', {
      parameterName: this.#names.secretParameter(accountId),
      stringValue: secret.secretArn,
    });
    return secret;
  }

  /**
   * The ARN of an account's secret in another stack's template, for a dynamic reference. The ARN is in a
   * parameter, because CloudFormation's pages do not say whether a dynamic reference may contain
   * `Fn::GetStackOutput`.
   */
  secretArnIn(other: Stack, accountId: string): string {
    other.addStackDependency(this);
    return StringParameter.valueForStringParameter(other, this.#names.secretParameter(accountId));
  }

  provide(scope: Construct, id: string, input: Provided): CustomResource {
    return new CustomResource(scope, id, {
      resourceType: `Custom::Svc${input.kind.charAt(0).toUpperCase()}${input.kind.slice(1)}`,
      // Not the alias: CloudFormation invokes the function after updating it, and a resource cannot change its service token
      // ("Modifying service token is not allowed").
      serviceToken: this.#provision.functionArn,
      serviceTimeout: timeout.plus(Duration.minutes(1)),
      // One JSON text, because CloudFormation turns numbers and booleans into texts.
      properties: { Input: Stack.of(scope).toJsonString(input) },
    });
  }

  #rights(settings: Settings, rights: Rights) {
    const names = namesOf(settings);
    const inAllRegions = (arnOf: (scope: Construct, name: string, region: string) => string, name: string) =>
      settings.regions.map((region) => arnOf(this, name, region));
    return [
      allow(['secretsmanager:GetSecretValue'], secretArn(this, names.masterSecret)),
      allow(['dynamodb:GetItem', 'dynamodb:PutItem'], ...inAllRegions(tableArn, names.accountsTable)),
      allow(['sqs:SendMessage'], ...inAllRegions(queueArn, names.accountChangesQueue)),
      writeTrails(...inAllRegions(tableArn, names.usageTable)),
      rights.knowHosts(),
      rights.on('schedules', 'Query', 'GetItem', 'PutItem', 'DeleteItem'),
      rights.on('groups', 'Query', 'GetItem', 'PutItem', 'DeleteItem'),
      ...rights.ensureQueues(),
      rights.on('messages', 'BatchWriteItem', 'DeleteItem'),
      rights.onBodies('PutObject', 'DeleteObject'),
      rights.endSchedules(),
    ];
  }
}
