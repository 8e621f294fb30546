/** Checks what the AWS account and its organisation allow: quotas, certificates, function URLs. */
import * as z from 'zod';
import { mostBytes } from '../../lib/functions/environmentSize.ts';
import { regionOfArn, valuesIn } from '../../lib/regional.ts';
import { type Check, expectNone, expectThat, Skipped } from '../check.ts';
import type { Quota } from './account.ts';
import type { Before } from './context.ts';

/** A message writes its row and its attempt into the same table: docs/cost.md. */
const writesOfMessage = 2;

/** The share of messages that must be able to wait longer than SQS can delay them. */
const leastFarShare = 0.1;

/** Each deployment stores its code, and keeps the former versions: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const mostCodeShare = 0.9;

/** The quota code of an on-demand DynamoDB table and of each of its indexes ("Quotas in Amazon DynamoDB"). */
const isTableWrites = ({ code }: Quota): boolean => code === 'L-AB614373';

/** The quota code for vCPUs of the instance families that managed instances use ("Running On-Demand Standard"). */
const standardInstances = 'L-1216C47A';

/**
 * "New AWS accounts have reduced concurrency and memory quotas" ("Lambda quotas"), which no API tells. Lambda refuses more than
 * 3,008 MB there; an account with all of the concurrent executions is no longer new.
 */
const newAccount = { memoryMb: 3_008, executions: 1_000 };

const functionShape = z.object({ MemorySize: z.number().default(128) });

const providerShape = z.object({ CapacityProviderScalingConfig: z.object({ MaxVCpuCount: z.number() }) });

/** Whether a certificate's name, such as `*.acme.example`, covers a domain. `*` matches one label (RFC 6125, 6.4.3). */
const covers = (name: string, domain: string): boolean =>
  name.toLowerCase() === domain.toLowerCase() ||
  (name.startsWith('*.') &&
    domain.toLowerCase().split('.').slice(1).join('.') === name.slice(2).toLowerCase());

/** Only rules of the organisation that are policies can be simulated, so this cannot find everything. */
const onlyDeployShows = 'other rules, such as hooks and resource control policies, only the deployment shows';

export const accountChecks: readonly Check<Before>[] = [
  {
    name: 'dynamodb-quotas',
    shows: 'DynamoDB lets a table take the writes that the throttle lets through',
    remedy:
      'Ask for more in Service Quotas (DynamoDB, "Table-level write throughput limit"), the same in each region, or lower throttleRate.',
    notOnEmulator: 'the emulator has no Service Quotas',
    run: async ({ settings, aws, home, region }) => {
      const { throttleRate, regions } = settings;
      const writes = (await aws.quotas('dynamodb')).find(isTableWrites)?.value;
      if (writes === undefined) throw new Skipped('Service Quotas does not tell the quota of a table');
      const needed = writesOfMessage * throttleRate;
      expectThat(
        needed <= writes,
        `A table may take ${writes} write units a second; ${throttleRate} messages a second (throttleRate) need ${needed}.`,
      );
      const homeWrites = (await home.quotas('dynamodb')).find(isTableWrites)?.value;
      // "The table-level write throughput limit must be the same in every Region that has a replica" (global tables, "Best
      // practices").
      expectThat(
        homeWrites === writes,
        `A table may take ${writes} write units a second in ${region} and ${String(homeWrites)} in ${String(regions[0])}, and a replica needs the same in both.`,
      );
      return `a table may take ${writes} write units a second, the settings need ${needed}; a table on demand serves 4000 at once when it is new, and later twice its former peak`;
    },
  },
  {
    name: 'scheduler-quotas',
    shows: 'AWS lets Scheduler make the schedules of a tenth of the messages that the throttle lets through',
    remedy:
      'Ask for more in Service Quotas (EventBridge Scheduler), lower throttleRate, or know that publishing is answered 503 when more messages are delayed for long.',
    notOnEmulator: 'the emulator has no Service Quotas',
    run: async ({ settings, aws }) => {
      const { throttleRate } = settings;
      const quotas = await aws.quotas('scheduler');
      const made = quotas.find(({ name }) => /createschedule\b/i.test(name))?.value;
      const sent = quotas.find(({ name }) => /^invocations?\b/i.test(name))?.value;
      if (made === undefined)
        throw new Skipped('Service Quotas does not tell how many schedules may be made in a second');
      const needed = leastFarShare * throttleRate;
      const faults = [
        ...(made < needed ? [`${made} schedules may be made in a second`] : []),
        ...(sent !== undefined && sent < needed ? [`${sent} may be sent in a second`] : []),
      ];
      expectNone(
        faults,
        (list) =>
          `If one message in ten of throttleRate=${throttleRate} is delayed by more than 15 minutes, ${needed} schedules a second are needed, and ${list}.`,
      );
      return `${made} schedules may be made in a second and ${sent ?? 'an untold number'} sent, so ${made} of ${throttleRate} messages a second may be delayed by more than 15 minutes`;
    },
  },
  {
    name: 'instance-quotas',
    shows: 'as many vCPUs may run as the managed instances may have',
    remedy:
      'Ask for more in Service Quotas (EC2, "Running On-Demand Standard instances"), or lower deliveryConcurrency or longEnvironments.',
    notOnEmulator: 'the emulator has no Service Quotas',
    run: async ({ aws, stacks }) => {
      const [provider] = stacks
        .flatMap(({ resources }) => Object.values(resources))
        .filter(({ Type }) => Type === 'AWS::Lambda::CapacityProvider');
      if (provider === undefined) throw new Skipped('longDelivery is functions, so there are no instances');
      const needed = providerShape.parse(provider.Properties).CapacityProviderScalingConfig.MaxVCpuCount;
      const vCPUs = (await aws.quotas('ec2')).find(({ code }) => code === standardInstances)?.value;
      if (vCPUs === undefined)
        throw new Skipped('Service Quotas does not tell how many vCPUs of instances may run');
      expectThat(
        needed <= vCPUs,
        `EC2 lets ${vCPUs} vCPUs of standard instances run, of all programs together; the managed instances may have ${needed} while a deployment changes them.`,
      );
      return `EC2 lets ${vCPUs} vCPUs of standard instances run, the managed instances may have ${needed}`;
    },
  },
  {
    name: 'function-settings',
    shows: 'Lambda takes the memory and the variables of the functions',
    remedy:
      'Ask AWS Support for more memory of functions, or lower deliveryMemory; shorten the longest texts of the settings.',
    notOnEmulator: 'the emulator has no quotas of memory',
    run: async ({ aws, stacks }) => {
      const functions = stacks
        .flatMap(({ resources }) => Object.values(resources))
        .filter(({ Type }) => Type === 'AWS::Lambda::Function');
      const memoryMb = Math.max(...functions.map((one) => functionShape.parse(one.Properties).MemorySize));
      const { limit } = await aws.concurrency();
      expectThat(
        memoryMb <= newAccount.memoryMb || limit >= newAccount.executions,
        `A function has ${memoryMb} MB of memory. With ${limit} concurrent executions the account is new, and AWS gives functions of new accounts ${newAccount.memoryMb} MB at most.`,
      );
      const [largest] = stacks.flatMap((one) => one.largestEnvironment ?? []);
      const variables = largest && `${largest.name} has ${largest.bytes} of ${mostBytes} bytes of variables`;
      return [`a function has ${memoryMb} MB of memory at most`, ...(variables ? [variables] : [])].join(
        '; ',
      );
    },
  },
  {
    name: 'code-storage',
    shows: 'Lambda has room for the code of the next deployments',
    remedy:
      'Delete versions of functions to which no alias points (aws lambda list-versions-by-function, and delete-function with --qualifier), or ask for more in Service Quotas (Lambda, "Function and layer storage").',
    notOnEmulator: 'the emulator does not count stored code',
    run: async ({ aws }) => {
      const { used, limit } = await aws.codeStorage();
      const [usedGb, limitGb] = [used, limit].map((bytes) => (bytes / 2 ** 30).toFixed(1));
      const said = `Lambda stores ${usedGb} GB of code, of all programs and with all versions, and ${limitGb} GB at most`;
      expectThat(used <= mostCodeShare * limit, `${said}.`);
      return said;
    },
  },
  {
    name: 'certificates',
    shows: 'AWS has issued the certificates, for the names of the domains',
    remedy:
      'Finish the validation of the certificate in ACM, or ask for one with these names in this region: docs/network.md, "Custom domains".',
    run: async ({ settings, region, aws }) => {
      const { domains, certificates, regions } = settings;
      const here = [
        ...valuesIn(domains, region),
        ...(region === regions[0] ? valuesIn(domains, 'management') : []),
      ].map((domain) => domain.replace(/\/.*/, ''));
      if (here.length === 0) throw new Skipped('the setting domains has none here');
      const arn = certificates.find((one) => regionOfArn(one) === region);
      if (arn === undefined) throw new Skipped(`${here.join(', ')} exists already, with its own certificate`);
      const { status, names, expiresAt } = await aws.certificate(arn);
      expectThat(status === 'ISSUED', `${arn} is ${status}, and API Gateway takes issued certificates only.`);
      expectThat(
        expiresAt === undefined || expiresAt.getTime() > Date.now(),
        `${arn} expired at ${String(expiresAt?.toISOString())}.`,
      );
      const uncovered = here.filter((domain) => !names.some((name) => covers(name, domain)));
      expectThat(
        uncovered.length === 0,
        `${arn} is for ${names.join(', ')}, and not for ${uncovered.join(', ')}.`,
      );
      return `${here.join(', ')} is covered by a certificate that is issued`;
    },
  },
  {
    name: 'function-urls',
    shows: 'AWS allows function URLs that are open to everybody, where publishUrl asks for one',
    remedy:
      'Leave publishUrl off, or have the organisation allow lambda:CreateFunctionUrlConfig and lambda:AddPermission with lambda:FunctionUrlAuthType NONE for the role of the bootstrap.',
    notOnEmulator:
      'the emulator has no organisations, and does not know the policies of the bootstrap’s role',
    run: async ({ settings, aws, qualifier }) => {
      const decision = await aws.mayMakePublicUrls(qualifier);
      if (decision === undefined)
        throw new Skipped(
          `the bootstrap has no role with which CloudFormation deploys, to ask for; ${onlyDeployShows}`,
        );
      const { isAllowed, isAllowedByOrganization } = decision;
      if (isAllowed)
        return `CloudFormation may make function URLs that are open to everybody; ${onlyDeployShows}`;
      const who =
        isAllowedByOrganization === false ? 'A policy of the organisation' : 'A policy of the account';
      expectThat(
        !settings.publishUrl,
        `${who} forbids function URLs that are open to everybody, which publishUrl asks for.`,
      );
      return `${who} forbids function URLs that are open to everybody; publishUrl is off, and only svc-queue verify needs some, for its receiver`;
    },
  },
];
