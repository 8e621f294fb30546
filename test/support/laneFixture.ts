import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { isFinal } from '../../lambdas/message/message.ts';
import type { Account } from '../../lambdas/account/account.ts';
import { isLineEmpty, pruned, type Lane, type LaneKey } from '../../lambdas/lane/lane.ts';
import { startFleet, type Fleet } from './fleet.ts';
import type { Inbox } from './receiver.ts';
import { idOf, requestOf, type Fixture } from './fixture.ts';

/**
 * An account whose messages pass lanes while processes die. The test's process makes requests, a fleet does the jobs, and hours
 * pass until all traces of a death are gone.
 */

const hourMs = 3_600_000;

/** The services that a lane fixture calls. They are imported before the fleet starts, whose processes have separate modules. */
export async function importLaneLambdas() {
  const [queues, holds, messages, stores, follow] = await Promise.all([
    import('../../lambdas/lane/queues.ts'),
    import('../../lambdas/lane/holds.ts'),
    import('../../lambdas/publish/cancel.ts'),
    import('../../lambdas/lane/store/laneRows.ts'),
    import('../../lambdas/management/followAccount.ts'),
  ]);
  return { ...queues, ...holds, ...messages, ...stores, ...follow };
}
export type LaneLambdas = Awaited<ReturnType<typeof importLaneLambdas>>;

export type Config = Readonly<Record<string, string>>;

/** Attempts are short, so that a dead worker's job is visible again after a minute instead of a quarter of an hour. */
const shortly: Config = { timeout: '20s' };

async function emptyQueues({ settings, sqs }: Fixture): Promise<void> {
  for (const QueueUrl of [settings.shortQueueUrl, settings.longQueueUrl]) {
    await sqs.send(new PurgeQueueCommand({ QueueUrl }));
  }
}

export class LaneFixture {
  readonly fleet: Fleet;
  readonly account: Account;
  readonly #fixture: Fixture;
  readonly #lambdas: LaneLambdas;
  /** The lanes that messages pass, in addition to the account's. */
  readonly #queues = new Set<string>();
  readonly #keys = new Set<string>();

  private constructor(fixture: Fixture, lambdas: LaneLambdas, fleet: Fleet, account: Account) {
    this.#fixture = fixture;
    this.#lambdas = lambdas;
    this.fleet = fleet;
    this.account = account;
  }

  /** Opens a lane fixture with a separate account and empty queues. */
  static async open(
    fixture: Fixture,
    lambdas: LaneLambdas,
    id: string,
    limits: Account['limits'] = {},
  ): Promise<LaneFixture> {
    fixture.reset();
    await emptyQueues(fixture);
    const account: Account = { ...fixture.account, id, limits: { ...fixture.account.limits, ...limits } };
    await fixture.saveAccount(account, undefined);
    await fixture.readUsage(account);
    return new LaneFixture(fixture, lambdas, await startFleet(fixture.standIns), account);
  }

  emptyQueues(): Promise<void> {
    return emptyQueues(this.#fixture);
  }

  async changeState(state: Account['state']): Promise<void> {
    const current = await this.#fixture.loadAccount(this.account.id, true);
    if (current === undefined) throw new Error('The account is not there.');
    await this.#fixture.saveAccount({ ...current, state }, current);
    await this.#fixture.standIns.sqs.send('accountChanges', JSON.stringify({ accountId: this.account.id }));
  }

  close(): Promise<void> {
    return this.fleet.close();
  }

  async send(url: string, config: Config = {}, queueName?: string): Promise<string> {
    if (queueName !== undefined) this.#queues.add(queueName);
    const key = config['flow-control-key'];
    if (key !== undefined) this.#keys.add(key);
    const request = { ...requestOf(url, { ...shortly, ...config }), queueName };
    return idOf(await this.#fixture.publishRequest(this.account, request));
  }

  /** Lets enough time pass for processes to read known lanes again. Deliveries stay in flight. */
  forget(): void {
    this.fleet.jump(1_000);
  }

  /** The end of a message: its final attempt's state, or the reason of an earlier end. */
  async endOf(messageId: string): Promise<string | undefined> {
    const history = await this.#fixture.loadMessage({ accountId: this.account.id, messageId });
    return history?.end ?? history?.attempts.find(isFinal)?.state;
  }

  async lane(kind: LaneKey['kind'], name = ''): Promise<Lane | undefined> {
    return this.#lambdas.loadLane({ accountId: this.account.id, kind, name });
  }

  /** Lets all leases end. Then no message waits or has a slot in any lane, and the next message passes each lane. */
  async settle(): Promise<void> {
    this.#fixture.reset();
    await this.fleet.advance(2 * hourMs);
    await this.#expectIdle();
    const inbox = this.#fixture.receiver.inbox();
    const next = await Promise.all([
      this.send(inbox.url),
      ...[...this.#queues].map((queue) => this.send(inbox.url, {}, queue)),
      ...[...this.#keys].map((key) =>
        this.send(inbox.url, { 'flow-control-key': key, 'flow-control-value': 'parallelism=1' }),
      ),
    ]);
    await this.fleet.advance(hourMs);
    expect(idsIn(inbox)).toEqual(new Set(next));
    await this.#expectIdle();
  }

  async #expectIdle(): Promise<void> {
    const lanes = await Promise.all([
      this.lane('account'),
      ...[...this.#queues].map((name) => this.lane('queue', name)),
      ...[...this.#keys].map((name) => this.lane('key', name)),
    ]);
    for (const lane of lanes) {
      if (lane === undefined) continue;
      const about = `the lane ${lane.kind} ${lane.name}`;
      expect(isLineEmpty(lane), `nobody waits in ${about}`).toBe(true);
      expect([...pruned(lane, Date.now()).leases], `the leases of ${about}`).toEqual([]);
    }
  }
}

export const idsIn = ({ deliveries }: Inbox): ReadonlySet<string> =>
  new Set(deliveries.map(({ headers }) => headers['svc-message-id'] ?? ''));
