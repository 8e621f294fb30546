/** The part of a region that can be replaced at any time. */
import { CfnOutput, Fn, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { consoleRoutes, routes } from '../lambdas/http/routes.ts';
import { Accounts } from './functions/accounts.ts';
import { makeApi, makeGatewayLogRole } from './api/api.ts';
import { makeExtraCaLayer } from './functions/extraCa.ts';
import { Delivery, rightsOfAllDelivery } from './functions/delivery.ts';
import { chosenHosts, environmentOf, type FunctionEnvironment } from './functions/environment.ts';
import { refuseLargeEnvironments } from './functions/environmentSize.ts';
import { shiftStepByStep } from './functions/canary.ts';
import type { CodeOf, SvcFunction } from './functions/function.ts';
import { MessagingApi } from './api/messagingApi.ts';
import { setFlags } from './flags.ts';
import { scheduleGroupOf, namesOf } from './names.ts';
import { type Instances, makeInstances, telemetryRights } from './functions/instances.ts';
import { makeNetwork } from './functions/network/network.ts';
import { Queues } from './state/queues.ts';
import { type Resources, Rights } from './functions/rights.ts';
import { ScheduleGroup } from './state/scheduleGroup.ts';
import { Scheduling } from './functions/scheduling.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import type { Settings } from './settings.ts';
import { Timers } from './functions/timers.ts';
import type { StateStack } from './stateStack.ts';
import { tablesOf } from './state/tables.ts';

interface ServiceStackProps extends StackProps {
  readonly settings: Settings;
  readonly state: StateStack;
  readonly codeOf: CodeOf;
}

export class ServiceStack extends Stack {
  readonly queues: Queues;
  readonly messagingApi: MessagingApi;
  readonly instances: Instances | undefined;
  readonly delivery: Delivery;
  readonly scheduling: Scheduling;
  readonly accounts: Accounts;
  readonly timers: Timers;
  /** Undefined if the settings turn monitoring off. */
  readonly monitoring: Monitoring | undefined;
  readonly resources: Resources;
  readonly variables: FunctionEnvironment;
  /** For the management API's function, which accepts no destinations and so needs no host of this stack. */
  readonly environmentWithoutHost: FunctionEnvironment;

  /** Without names: the CDK would look up the zones in AWS, but synthesis must not need AWS. */
  override get availabilityZones(): string[] {
    return [0, 1, 2].map((at) => Fn.select(at, Fn.getAzs(this.region)));
  }

  constructor(scope: Construct, id: string, { settings, state, codeOf, ...props }: ServiceStackProps) {
    super(scope, id, props);
    setFlags(this);
    this.queues = new Queues(this, 'Queues', settings);
    const group = new ScheduleGroup(this, 'Scheduling', {
      groupName: scheduleGroupOf(settings),
      queues: this.queues,
      fixed: state.fixed,
    });
    const made = makeApi(this, {
      name: settings.name,
      place: this.region,
      throttle: { rate: settings.throttleRate, burst: settings.throttleBurst },
      routes: [...routes, ...consoleRoutes],
      settings,
    });

    // Exported even if unused: an accounts stack that was removed from an app still imports it.
    this.exportValue(made.api.restApiId);
    const resources: Resources = {
      settings,
      tables: tablesOf(this, state.tables, settings),
      bodies: state.bodies,
      queues: this.queues,
      scheduleGroup: group,
    };
    this.resources = resources;
    const environment = environmentOf(this, { ...resources, apiHost: made.host });
    this.variables = environment;
    this.environmentWithoutHost = { ...environment, OWN_HOSTS: chosenHosts(settings).join(',') };
    const parts = {
      shared: { environment, settings, codeOf },
      rights: new Rights(this, resources),
      queues: this.queues,
    };
    this.messagingApi = new MessagingApi(this, { ...parts, made });
    const { publishUrl, shared } = this.messagingApi;
    const may = [
      ...rightsOfAllDelivery(parts.rights, { queues: this.queues, forEmulator: settings.forEmulator }),
      ...telemetryRights(this, settings),
    ];
    const network = makeNetwork(this, { settings, may });
    this.instances = makeInstances(this, { settings, network, may });
    const extraCa = makeExtraCaLayer(this, settings);
    this.delivery = new Delivery(this, {
      ...parts,
      instances: this.instances,
      // The API's URL is in deliveries, so that destinations can complete attempts.
      shared: { ...shared, network, extraCa, variables: { API_URL: made.url } },
    });
    this.scheduling = new Scheduling(this, { ...parts, shared, group });
    this.accounts = new Accounts(this, { ...parts, shared });
    this.timers = new Timers(this, { ...parts, shared });
    refuseLargeEnvironments([this, state], this.functions, settings);

    this.monitoring = settings.monitoring !== false ? this.monitor(settings, group) : undefined;
    if (settings.canary && this.monitoring !== undefined)
      shiftStepByStep(
        this,
        // Not on instances, where a second version doubles the execution environments for a tenth of the
        // invocations.
        this.messageFunctions.filter(({ isOnInstances }) => !isOnInstances),
        this.monitoring.essential,
      );
    if (settings.gatewayLogRole) made.api.deploymentStage.node.addDependency(makeGatewayLogRole(this));
    const { url } = this.messagingApi;
    new CfnOutput(this, 'Url', { value: url, description: 'The base URL of the API: SVC_URL' });
    new CfnOutput(this, 'ApiUrl', { value: made.url, description: 'The base URL with the gateway in front' });
    if (publishUrl !== undefined) {
      new CfnOutput(this, 'PublishUrl', {
        value: publishUrl.url,
        description: 'The base URL without the gateway in front of messages',
      });
    }
  }

  private get messageFunctions(): readonly SvcFunction[] {
    const { delivery, messagingApi, scheduling, accounts, timers } = this;
    return [
      messagingApi.functions.publish,
      delivery.short,
      delivery.long,
      delivery.slow,
      delivery.alone,
      scheduling.fire,
      accounts.follow,
      timers.countOutcomes,
    ];
  }

  private get functions(): readonly SvcFunction[] {
    return [
      ...new Set([
        ...this.messageFunctions,
        this.timers.lookForAlarms,
        this.timers.redrive,
        ...Object.values(this.messagingApi.functions),
      ]),
    ];
  }

  private monitor(settings: Settings, group: ScheduleGroup): Monitoring {
    const { messagingApi, delivery } = this;
    return new Monitoring(this, 'Monitoring', {
      settings,
      queues: this.queues,
      scheduleGroup: group.groupName,
      publish: messagingApi.functions.publish,
      messageFunctions: this.messageFunctions,
      deliveries: [delivery.short, delivery.long, delivery.slow],
      apiFunctions: Object.values(messagingApi.functions),
      capacityProvider: this.instances?.provider.ref,
      managementApi: settings.regions[0] === this.region ? namesOf(settings).managementApi : undefined,
    });
  }
}
