/** `svc-queue verify`: uses a deployment as clients do, and deletes everything that it made. */
import { GetCallerIdentityCommand } from '@aws-sdk/client-sts';
import { readLogin } from '../../operate/managementApi.ts';
import { outputsOf, stackResources } from '../../operate/stackResources.ts';
import { type Check, type Outcome, runCheck } from '../check.ts';
import { clientsIn } from '../clients.ts';
import type { Deployment } from '../deployment.ts';
import { type Account, leftAccounts, makeAccount, removeAccount } from './accounts.ts';
import { basic, bearer, type Client, clientOf, reachable, sender } from './api.ts';
import type { After } from './context.ts';
import { openCommands, type Release, releaseCheck } from '../release/release.ts';
import { openInboxes, readLogs, type ReceiverHost } from './receiver/inbox.ts';
import { alone, last, steps, waiting } from './checks.ts';
import { removeLateHost } from './receiver/lateHost.ts';
import { makeReceiver, receiverNames, removeReceiver } from './receiver/receiverStack.ts';

interface Asked {
  readonly deployment: Deployment;
  readonly regions: readonly string[];
  readonly only: readonly string[];
  /** Whether to run slow checks too. Checks in `only` always run. */
  readonly isSlow: boolean;
  readonly waitMs: number;
  readonly isEmulator: boolean;
  readonly front: string | undefined;
  /** Ends the run. Cleaning up continues. */
  readonly signal: AbortSignal;
  readonly say: (sentence: string) => void;
  /** Commands of an upgrade. If given, only the upgrade is checked. */
  readonly release: Release | undefined;
}

type Plan = (
  run: (checks: readonly Check<After>[]) => Promise<readonly Outcome[]>,
) => Promise<readonly Outcome[]>;

const allChecks: Plan = async (run) => {
  const runSteps = async (): Promise<readonly Outcome[]> => {
    const outcomes: Outcome[] = [];
    for (const checks of steps) outcomes.push(...(await run(checks)));
    return outcomes;
  };
  const [inSteps, waited] = await Promise.all([runSteps(), run(waiting)]);
  return [...inSteps, ...waited, ...(await run(alone)), ...(await run(last))];
};

export async function verifyAfter(asked: Asked): Promise<readonly Outcome[]> {
  const found = await findDeployment(asked);
  const { release, regions, say } = asked;
  let plan = allChecks;
  if (release !== undefined) {
    const check = releaseCheck(openCommands(release, regions.length, say));
    plan = (run) => run([check]);
  }
  const outcomes = await Promise.allSettled(
    regions.map((region) => verifyRegion(region, asked, found, plan)),
  );
  return outcomes.flatMap((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

type Found = Awaited<ReturnType<typeof findDeployment>>;

async function findDeployment({ deployment: { settings }, front }: Asked) {
  const { name, regions } = settings;
  const [first = ''] = regions;
  const outputsIn = (region: string, stack: string) => outputsOf(clientsIn(region).cloudFormation, stack);
  const { ManagementUrl = '' } = await outputsIn(first, `${name}-Management`);
  const { username, password } = (await readLogin({ name, region: first })).login;
  const apis = regions.map(async (region) => {
    const { ApiUrl = '', PublishUrl } = await outputsIn(region, `${name}-${region}-Service`);
    const publishUrl = PublishUrl === undefined ? undefined : reachable(PublishUrl, front);
    return { region, url: reachable(ApiUrl, front), publishUrl };
  });
  return {
    managementUrl: reachable(ManagementUrl, front),
    authorization: basic(username, password),
    apis: await Promise.all(apis),
  };
}

/** Cleaning up cannot be cancelled. */
const never = new AbortController().signal;

async function verifyRegion(
  region: string,
  asked: Asked,
  found: Found,
  plan: Plan,
): Promise<readonly Outcome[]> {
  const { deployment, say } = asked;
  const { name } = deployment.settings;
  const { cloudFormation } = clientsIn(region);
  const url = found.apis.find((api) => api.region === region)?.url ?? '';
  const management = clientOf(sender(found.managementUrl, never), found.authorization);
  const tidyUp = async (): Promise<void> => {
    // The machine is billed by the hour, so it is deleted first, even if the settings have no instances.
    const hadHost = await removeLateHost(cloudFormation, name);
    const hadReceiver = await removeReceiver(cloudFormation, name);
    const left = await leftAccounts(management, region);
    for (const account of left)
      await removeAccount(management, clientOf(sender(url, never), bearer(account.token)), account);
    if (left.length > 0 || hadReceiver || hadHost)
      say(`${region}: the account and the receiver of a run are taken away`);
  };
  const tidily = (): Promise<Outcome> => runCheck(step('tidy-up', tidyUp), { region, ...asked });
  // A killed run leaves resources behind. Deletions that fail now are tried again at the end.
  await tidily();
  let tidied: Outcome | undefined;
  let outcomes: readonly Outcome[];
  try {
    outcomes = await checkRegion(region, asked, found, management, plan);
  } finally {
    tidied = await tidily();
    if (tidied.result === 'short') say(`${region}: not all could be taken away: ${tidied.seen}`);
  }
  return tidied.result === 'short' ? [...outcomes, tidied] : outcomes;
}

type Place = Pick<After, 'region' | 'isEmulator'>;

/** Remedies if a step before or after the checks fails. */
const remedies = {
  prepare:
    'The management API makes and lists the accounts of all regions: look at the log of its function Accounts. The receiver is the stack <name>-Verify: look at its events in CloudFormation.',
  'tidy-up': 'Mend what falls short, and run this again: it takes away what is left.',
};

const step = (name: keyof typeof remedies, run: () => Promise<unknown>): Check<Place> => ({
  name,
  shows: 'what the checks need can be made, and taken away',
  remedy: remedies[name],
  run: async () => {
    await run();
    return 'done';
  },
});

async function checkRegion(
  region: string,
  { deployment, only, isSlow, waitMs, isEmulator, front, signal, say }: Asked,
  { managementUrl, authorization, apis }: Found,
  management: Client,
  plan: Plan,
): Promise<readonly Outcome[]> {
  const { settings } = deployment;
  const clients = clientsIn(region);
  const startedAt = Date.now();
  let receiver: Readonly<Record<ReceiverHost, string>> = { quick: '', slow: '' };
  let awsAccount = '';
  let account: Account = { id: '', token: '', region };
  const make = async (): Promise<void> => {
    receiver = await makeReceiver(clients.cloudFormation, settings.name, signal);
    account = await makeAccount(management, region, settings.lambdaDestinations);
    ({ Account: awsAccount = '' } = await clients.sts.send(new GetCallerIdentityCommand({})));
  };
  const prepared = await runCheck(step('prepare', make), { region, isEmulator });
  signal.throwIfAborted();
  if (prepared.result === 'short') return [prepared];
  say(`${region}: the receiver and the account are made`);
  const { url = '', publishUrl } = apis.find((api) => api.region === region) ?? {};
  const openClient = (base: string, credentials: string) => {
    const send = sender(base, signal);
    return { send, client: clientOf(send, credentials) };
  };
  const stacks = deployment.stacks.filter((stack) => stack.region === region).map((stack) => stack.name);
  const { logGroups } = receiverNames(settings.name);
  const timeout = { waitMs, signal };
  const token = bearer(account.token);
  const resources = await Promise.all(stacks.map((stack) => stackResources(clients.cloudFormation, stack)));
  const after: After = {
    region,
    isEmulator,
    settings,
    timeout,
    clients,
    startedAt,
    awsAccount,
    account,
    stacks,
    templates: deployment.stacks,
    sendTo: (base) => sender(base, signal),
    api: { url, ...openClient(url, token) },
    publishUrl: publishUrl === undefined ? undefined : openClient(publishUrl, token).client,
    management: region === settings.regions[0] ? openClient(managementUrl, authorization) : undefined,
    others: apis
      .filter((api) => api.region !== region)
      .map((api) => ({ region: api.region, send: sender(api.url, signal) })),
    inbox: openInboxes({
      read: () => readLogs(clients.logs, logGroups, startedAt),
      urls: { quick: reachable(receiver.quick, front), slow: reachable(receiver.slow, front) },
      timeout,
    }),
    resources: resources.flat(),
  };
  const isAsked = (check: Check<After>): boolean =>
    only.length === 0 ? isSlow || check.isSlow !== true : only.includes(check.name);
  const outcomes = await plan((checks) =>
    Promise.all(
      checks.filter(isAsked).map(async (check) => {
        const outcome = await runCheck(check, after);
        say(`${region}: ${check.name} is ${outcome.result}`);
        return outcome;
      }),
    ),
  );
  signal.throwIfAborted();
  return outcomes;
}
