import type { Account } from '../account/account.ts';
import { downHosts } from '../lane/heldBack.ts';
import { minuteMs, now, secondMs } from '../shared/clock.ts';
import { withoutSecrets } from '../shared/urlCredentials.ts';
import {
  deadLettersSince,
  failingAmong,
  look,
  lookAtSchedules,
  type Bounds,
} from '../statistics/attention.ts';
import { failingHosts } from '../statistics/hostTimes.ts';
import type { AlarmKind } from '../wire/alarms.ts';
import { hangingRuns } from '../workflow/logs.ts';
import { watchedBy, type AlarmSettings, type Found, type FoundOfKind } from './alarm.ts';
import { nearLimits } from './limits.ts';

/** An account may have 10,000 schedules or queues. */
const bounds: Bounds = { mostRead: 10_000, budgetMs: 10 * secondMs };

const nothing: FoundOfKind = { found: [], isCut: false };

async function deadLetters(
  account: Account,
  { above, minutes }: NonNullable<AlarmSettings['deadLetters']>,
): Promise<FoundOfKind> {
  let counted = 0;
  let read = 0;
  const until = now() + bounds.budgetMs;
  for await (const deadLetter of deadLettersSince(account, now() - minutes * minuteMs)) {
    if (deadLetter !== undefined && deadLetter.message.isAlarm !== true) counted += 1;
    if (counted > above) break;
    read += 1;
    if (read >= bounds.mostRead || now() > until) return { found: [], isCut: true };
  }
  if (counted <= above) return nothing;
  const detail = `More than ${above} messages and runs failed permanently within ${minutes} minutes.`;
  return {
    found: [{ kind: 'deadLetters', subject: '', title: 'New dead letters', detail }],
    isCut: false,
  };
}

async function hosts(account: Account): Promise<FoundOfKind> {
  const [down, failing] = await Promise.all([
    look(downHosts(account), (one) => one, bounds),
    failingHosts(account, ({ isAlarm }) => isAlarm !== true),
  ]);
  const found = down.found.map(({ host, waiting }): Found => ({
    kind: 'hosts',
    subject: host,
    title: `The host ${host} is down`,
    detail: `Its circuit is open, and ${waiting} deliveries wait for it.`,
  }));
  const known = new Set(down.found.map(({ host }) => host));
  for (const { host, failuresInRow, lastStatus } of failing) {
    if (known.has(host)) continue;
    const last = lastStatus === 0 ? 'without an answer' : `with the status ${lastStatus}`;
    const detail = `Its last ${failuresInRow} attempts have failed, the last one ${last}.`;
    found.push({ kind: 'hosts', subject: host, title: `The host ${host} fails`, detail });
  }
  return { found, isCut: down.isCut };
}

async function runs(account: Account): Promise<FoundOfKind> {
  const { found, lookedFrom } = await hangingRuns(account);
  return {
    found: found.map(({ runId, url, since }) => ({
      kind: 'runs',
      subject: runId,
      title: `The run ${runId} hangs`,
      detail: `Nothing has been pending since ${new Date(since).toISOString()}. Its workflow is ${url}.`,
    })),
    isCut: lookedFrom !== undefined,
  };
}

/** Finds failing schedules and counts all schedules with one read. */
async function schedules(
  account: Account,
  isWatched: boolean,
): Promise<FoundOfKind & { readonly number: number }> {
  const { number, fired } = await lookAtSchedules(account, bounds);
  if (!isWatched) return { ...nothing, number };
  const { found, isCut } = await failingAmong(account, fired, bounds);
  return {
    found: found.map(({ scheduleId, lastFire: { time, error } }) => ({
      kind: 'schedules',
      subject: scheduleId,
      title: `The schedule ${scheduleId} fails`,
      detail: `It fired at ${new Date(time).toISOString()}: ${error ?? 'a message of this fire is a dead letter.'}`,
    })),
    isCut,
    number,
  };
}

/**
 * Finds conditions of the kinds that the settings name.
 *
 * @throws if something could not be read, because the result would be wrong
 */
export async function findConditions(account: Account, settings: AlarmSettings) {
  const watched = watchedBy(settings);
  const needsSchedules = watched.has('schedules') || watched.has('limits');
  const ofSchedules = needsSchedules
    ? schedules(account, watched.has('schedules'))
    : Promise.resolve({ ...nothing, number: 0 });
  const looks: Readonly<Record<AlarmKind, () => Promise<FoundOfKind>>> = {
    deadLetters: async () => (settings.deadLetters ? deadLetters(account, settings.deadLetters) : nothing),
    hosts: () => hosts(account),
    schedules: () => ofSchedules,
    runs: () => runs(account),
    limits: async () => nearLimits(account, settings.limits ?? 100, (await ofSchedules).number),
  };
  const looked = await Promise.all([...watched].map(async (kind) => ({ kind, ...(await looks[kind]()) })));
  return {
    found: looked.flatMap(({ found }) =>
      found.map((one) => ({ ...one, detail: withoutSecrets(one.detail) })),
    ),
    watched,
    cut: new Set(looked.flatMap(({ kind, isCut }) => (isCut ? [kind] : []))),
  };
}
