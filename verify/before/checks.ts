/** The checks before a deployment. All except the change sets only read, see `readersIn`. */
import { type Check, expectNone, expectThat, Skipped } from '../check.ts';
import { accountChecks } from './accountChecks.ts';
import { alarmQueriesIn } from './alarms.ts';
import { changeSetChecks } from './changeSets.ts';
import { type Before, listOf, stacksThere } from './context.ts';
import { namesIn } from './names.ts';
import { networkChecks } from './networkChecks.ts';

/** The bootstrap version that the CDK's templates require: "DefaultStackSynthesizer" in the AWS CDK Developer Guide. */
const leastBootstrap = 6;

/** The executions that Lambda keeps unreserved ("Configuring reserved concurrency", AWS Lambda Developer Guide). */
const leastUnreserved = 100;

/** The concurrent executions that all other functions need at least: the API, fires and the queue `dead`. */
const restConcurrency = 4;

/** States of stacks that cannot be deployed to. An empty change set of `cdk deploy` leaves one in review, which the next uses. */
const stuck =
  /^(ROLLBACK_COMPLETE|ROLLBACK_FAILED|CREATE_FAILED|DELETE_FAILED|UPDATE_ROLLBACK_FAILED|(?!REVIEW).*_IN_PROGRESS)$/;

export const beforeChecks: readonly Check<Before>[] = [
  {
    name: 'credentials',
    shows: 'AWS accepts the credentials, and the region is enabled',
    remedy:
      'Log in (aws sts get-caller-identity shows whom AWS sees), and enable the region: aws account enable-region --region-name <region>.',
    run: async ({ aws }) => {
      const { account, caller } = await aws.identity();
      return `account ${account}, as ${caller}`;
    },
  },
  {
    name: 'bootstrap',
    shows: 'the region is bootstrapped for the CDK',
    remedy: 'Run svc-queue bootstrap --region <region>.',
    run: async ({ aws, qualifier }) => {
      const version = await aws.bootstrapVersion(qualifier);
      expectThat(version !== undefined, `The region has no bootstrap stack with the qualifier ${qualifier}.`);
      expectThat(
        version >= leastBootstrap,
        `The bootstrap stack has version ${version}, the CDK needs ${leastBootstrap}.`,
      );
      return `version ${version}`;
    },
  },
  {
    name: 'stacks',
    shows: 'no stack of an earlier deployment is stuck',
    remedy:
      'Wait for what is in progress. A first deployment that failed: take the termination protection off the stack, delete it, deploy again.',
    run: async (before) => {
      const there = await stacksThere(before);
      const ended = there.filter(({ status }) => stuck.test(status));
      const told = (of: typeof there) => of.map(({ template, status }) => `${template.name} is ${status}`);
      expectNone(told(ended), (list) => `No deployment goes on from here: ${list}.`);
      return there.length === 0 ? 'nothing is deployed under these names' : listOf(told(there));
    },
  },
  {
    name: 'names',
    shows: 'the fixed names are free, or those of this deployment',
    remedy:
      'Delete what is left of an earlier deployment if no one needs it, or deploy under another name (-c name=<another>).',
    run: async ({ stacks, aws }) => {
      const taken: string[] = [];
      let free = 0;
      for (const template of stacks) {
        const own = (await aws.stack(template.name))?.logicalIds ?? new Set();
        // One at a time: CloudWatch and other services refuse many concurrent calls.
        for (const named of namesIn(template)) {
          if (own.has(named.logicalId)) continue;
          if (await aws.isTaken(named)) taken.push(`${named.name} (${named.type})`);
          else free += 1;
        }
      }
      expectNone(taken, (list) => `These exist, and no stack of this deployment has them: ${list}.`);
      return free === 0 ? 'all names are those of this deployment' : `${free} names are free`;
    },
  },
  {
    name: 'protection',
    shows: 'the settings do not take the protection from a protected deployment',
    remedy: 'Give this deployment another name, or take out retain=false or stage=dev.',
    run: async (before) => {
      const isProtected = (await stacksThere(before)).filter((stack) => stack.isProtected);
      const names = isProtected.map(({ template }) => template.name);
      expectThat(
        names.length === 0 || before.settings.retain,
        `${listOf(names)} has termination protection, and these settings have retain=false, which would take the protection from its data.`,
      );
      return names.length === 0 ? 'nothing is protected yet' : `${listOf(names)} stays protected`;
    },
  },
  {
    name: 'concurrency',
    shows: 'Lambda allows the executions that the settings need',
    remedy:
      'Ask for more in Service Quotas (Lambda, "Concurrent executions"), or set deliveryConcurrency, publishConcurrency and accountConcurrency to what there is; docs/settings.md, "Room for the API".',
    run: async ({ settings, aws }) => {
      const { limit, unreserved } = await aws.concurrency();
      const faults: string[] = [];
      const { deliveryConcurrency, publishConcurrency = 0, accountConcurrency, longDelivery } = settings;
      // The queues `short`, `slow` and `long`. On instances, the function of `long` needs no executions.
      const deliveries = (longDelivery === 'instances' ? 2 : 3) * deliveryConcurrency;
      const needed = deliveries + publishConcurrency + restConcurrency;
      if (needed > limit)
        faults.push(
          `deliveries may take ${deliveries} executions and publishing ${publishConcurrency}, with ${restConcurrency} for the rest that is ${needed}`,
        );
      if (publishConcurrency > 0 && unreserved - publishConcurrency < leastUnreserved)
        faults.push(
          `publishConcurrency=${publishConcurrency} leaves ${unreserved - publishConcurrency} unreserved of ${unreserved}, and Lambda wants ${leastUnreserved}`,
        );
      if (settings.monitoring && accountConcurrency > limit)
        faults.push(`the alarm Concurrency compares with accountConcurrency=${accountConcurrency}`);
      expectNone(faults, (list) => `Lambda allows ${limit} executions at once: ${list}.`);
      return `Lambda allows ${limit} executions at once, the settings need ${needed}`;
    },
  },
  {
    name: 'throttle',
    shows: 'API Gateway gives the account the requests that the settings allow',
    remedy:
      'Ask for more in Service Quotas (API Gateway, "Throttle rate"), or lower throttleRate and throttleBurst.',
    run: async ({ settings, aws }) => {
      const { rate, burst } = await aws.gateway();
      const { throttleRate, throttleBurst } = settings;
      expectThat(
        throttleRate <= rate && throttleBurst <= burst,
        `API Gateway gives the account ${rate} requests a second and ${burst} at once; the settings have throttleRate=${throttleRate}, throttleBurst=${throttleBurst}.`,
      );
      return `API Gateway gives ${rate} requests a second and ${burst} at once`;
    },
  },
  {
    name: 'gateway-log',
    shows: 'API Gateway writes logs with a role that this deployment does not take from others',
    remedy:
      'Deploy with gatewayLogRole=false where the region has a role of somebody else, and with true where it has none.',
    run: async ({ settings, aws, stacks }) => {
      const { logRole } = await aws.gateway();
      if (!settings.gatewayLogRole) {
        expectThat(
          logRole !== undefined,
          'gatewayLogRole is false, and API Gateway has no role to write logs with.',
        );
        return `logs are written with ${logRole}`;
      }
      if (logRole === undefined) return 'API Gateway has no role yet, so this deployment makes one';
      const ownRole = stacks.some(({ name }) => logRole.includes(`/${name}-ApiLogRole`));
      expectThat(
        ownRole,
        `API Gateway writes logs with ${logRole}, which this deployment would replace for the whole region.`,
      );
      return 'the role is that of this deployment';
    },
  },
  {
    name: 'alarms',
    shows: 'CloudWatch takes the metrics and expressions of all alarms',
    remedy: 'Report it with the sentence of CloudWatch, and deploy with monitoring=false until it is mended.',
    run: async ({ stacks, aws }) => {
      const alarms = stacks.flatMap(alarmQueriesIn);
      if (alarms.length === 0) throw new Skipped('the settings make no alarms here');
      const refused: string[] = [];
      for (const { logicalId, queries } of alarms) {
        try {
          await aws.evaluate(queries);
        } catch (error) {
          if (!(error instanceof Error) || !/Validation|Invalid|BadRequest/.test(error.name)) throw error;
          refused.push(`${logicalId}: ${error.message}`);
        }
      }
      expectNone(refused, (list) => `CloudWatch does not take ${list}.`);
      return `CloudWatch takes the metrics of ${alarms.length} alarms`;
    },
  },
  ...accountChecks,
  ...networkChecks,
  ...changeSetChecks,
];
