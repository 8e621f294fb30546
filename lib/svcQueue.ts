import { createHash } from 'node:crypto';
import { CrossStackReferences, ReferenceStrength, Stack, Stage, Tags } from 'aws-cdk-lib';
import type { Dashboard, Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { AccountsStack } from './app/accountsStack.ts';
import { headersOf, type SvcScheduleProps, type SvcUrlGroupProps } from './app/contents.ts';
import type { SvcQueueProps } from './app/props.ts';
import { faultsIn, fieldsOf, SvcAccount, type SvcAccountProps } from './app/svcAccount.ts';
import { type SvcMetric, widgetsOf } from './app/widgets.ts';
import { setFlags } from './flags.ts';
import { codeOf } from './functions/code.ts';
import { ownMetric } from './monitoring/alarms.ts';
import type { ServiceStack } from './serviceStack.ts';
import { checkProps, type Settings } from './settings.ts';
import { makeStacks, type Stacks } from './stacks.ts';

/**
 * A deployment of the service, in separate stacks beside those of the app.
 *
 * ```ts const queue = new SvcQueue(app, 'Queue', { regions: ['eu-central-1'] }); const account = queue.account('default');
 * account.grantPublish(fn); ```
 */
export class SvcQueue extends Construct {
  readonly #scope: Construct;
  readonly #settings: Settings;
  readonly #stacks: Stacks;
  readonly #accounts = new Map<string, SvcAccount>();
  #accountsStack: AccountsStack | undefined;
  #contentsStack: Stack | undefined;

  /**
   * @param scope an `App` or a `Stage`
   * @throws Error that names each unknown or wrong prop
   */
  constructor(scope: Construct, id: string, { awsAccount, ...props }: SvcQueueProps = {}) {
    super(scope, id);
    this.#scope = scope;
    this.#settings = checkProps(props);
    this.#stacks = makeStacks(scope, {
      settings: this.#settings,
      account: awsAccount ?? Stage.of(scope)?.account,
      codeOf,
    });
  }

  /** The base URL in the first region, without a slash at the end: of the domain, or the publish URL. */
  get url(): string {
    return this.#home.messagingApi.url;
  }

  /** Undefined if the prop `publishUrl` is off. */
  get publishUrl(): string | undefined {
    return this.#home.messagingApi.publishUrl?.url;
  }

  /** The topic of the first region's alarms. Undefined if `monitoring` is off. */
  get alarmTopic(): ITopic | undefined {
    return this.#home.monitoring?.topic;
  }

  /** A metric of the first region, for five minutes: the sum of a count, or the largest time. */
  metric(name: SvcMetric, options: MetricOptions = {}): Metric {
    return ownMetric({ settings: this.#settings }, name).with(options);
  }

  /** Adds graphs to a dashboard: messages, failed attempts, lateness. */
  addTo(dashboard: Dashboard): void {
    dashboard.addWidgets(...widgetsOf(this.#settings.name, (name) => this.metric(name)));
  }

  /**
   * Makes an account in the first region when the app is deployed. If it is removed from the app, it is
   * suspended and keeps its data. If it is added again, its token is the same.
   *
   * @param id letters, digits and dashes; another id is another account
   * @throws Error that names each wrong prop
   */
  account(id: string, props: SvcAccountProps = {}): SvcAccount {
    const faults = faultsIn(props);
    if (faults.length > 0)
      throw new Error(`The props of the account '${id}' are not right:\n- ${faults.join('\n- ')}`);
    const { rotation } = props;
    const accountId = uuidOf(`${this.#settings.name}/${id}`);
    const secret = this.#forAccounts.makeAccount(id, accountId, {
      fields: fieldsOf(id, props),
      url: this.url,
      rotation,
    });
    const account = new SvcAccount(this, id, {
      accountId,
      secret,
      secretArnIn: (stack) => this.#forAccounts.secretArnIn(stack, accountId),
      url: this.url,
      rotation,
    });
    this.#accounts.set(id, account);
    return account;
  }

  /** Makes a schedule at deployment. It is changed and deleted with the app. */
  schedule(id: string, props: SvcScheduleProps): void {
    const { destination, body = '' } = props;
    this.#provide('schedule', id, props.account, { id, destination, body, headers: headersOf(props) });
  }

  /** Makes a URL group at deployment. It is changed and deleted with the app. */
  urlGroup(name: string, { account, endpoints }: SvcUrlGroupProps): void {
    this.#provide('urlGroup', name, account, { name, endpoints });
  }

  #provide(
    kind: 'schedule' | 'urlGroup',
    id: string,
    account = this.#onlyAccount(kind, id),
    input: Readonly<Record<string, unknown>>,
  ): void {
    const resource = this.#forAccounts.provide(this.#forContents, `${kind}-${id}`, {
      ...input,
      kind,
      accountId: account.accountId,
    });
    resource.node.addDependency(account.secret);
  }

  #onlyAccount(kind: string, id: string): SvcAccount {
    const [account, ...others] = this.#accounts.values();
    if (account !== undefined && others.length === 0) return account;
    throw new Error(
      account === undefined
        ? `The ${kind} '${id}' needs an account: make one with queue.account() before.`
        : `The ${kind} '${id}' must say which of the accounts it is for: account.`,
    );
  }

  get #home(): ServiceStack {
    const [home] = this.#stacks.serviceStacks;
    if (home === undefined) throw new Error(`${this.node.path} has no region.`);
    return home;
  }

  #stackProps(name: string, description: string) {
    const { account, region } = this.#home;
    return {
      stackName: name,
      env: { account, region },
      description: `${this.#settings.name}: ${description}`,
    };
  }

  get #forAccounts(): AccountsStack {
    if (this.#accountsStack === undefined) {
      const name = `${this.#settings.name}-Accounts`;
      this.#accountsStack = new AccountsStack(this.#scope, name, {
        ...this.#stackProps(name, 'the accounts of the app'),
        settings: this.#settings,
        home: this.#home,
        codeOf,
      });
      Tags.of(this.#accountsStack).add('service', this.#settings.name);
    }
    return this.#accountsStack;
  }

  /**
   * A separate stack, because it depends on stacks of the app for the URLs of destinations, and those depend
   * on the accounts stack.
   */
  get #forContents(): Stack {
    if (this.#contentsStack === undefined) {
      const name = `${this.#settings.name}-Contents`;
      this.#contentsStack = new Stack(
        this.#scope,
        name,
        this.#stackProps(name, 'the schedules and URL groups of the app'),
      );
      setFlags(this.#contentsStack);
      // Weak references, like those to secrets: see `AccountsStack`.
      CrossStackReferences.of(this.#contentsStack).consume(ReferenceStrength.BOTH);
      Tags.of(this.#contentsStack).add('service', this.#settings.name);
    }
    return this.#contentsStack;
  }
}

/** A UUID derived from a text (RFC 9562, version 8). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
