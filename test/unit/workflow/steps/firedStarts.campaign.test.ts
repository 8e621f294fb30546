import { beforeEach, expect } from 'vitest';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { itAtEachDeath } from '../../../support/faults.ts';
import { openRunActs, type RunActs } from '../../../support/runActs.ts';
import { useFixture } from '../../../support/useFixture.ts';
import { requestOf, type Fixture } from '../../../support/fixture.ts';

/** A schedule starts a run once per fire, even if the fire is redelivered after a death. */

let fixture: Fixture;
let acts: RunActs;
let services: Awaited<ReturnType<typeof importServices>>;
async function importServices() {
  const [{ fire }, { createSchedule }, { loadSchedule }] = await Promise.all([
    import('../../../../lambdas/schedule/fire.ts'),
    import('../../../../lambdas/schedule/schedules.ts'),
    import('../../../../lambdas/schedule/rows.ts'),
  ]);
  return { fire, createSchedule, loadSchedule };
}
useFixture(async (opened) => {
  fixture = opened;
  [acts, services] = await Promise.all([openRunActs(fixture), importServices()]);
});
beforeEach(() => fixture.drain());

const minuteMs = 60_000;
let schedules = 0;

async function doJobsUntil(aheadMs: number): Promise<void> {
  for (let at = 0; at <= aheadMs; at += 1_000) {
    setClockAhead(at);
    await fixture.doJobs();
  }
}

async function open() {
  const inbox = fixture.receiver.inbox((_delivery, response) =>
    response.writeHead(200, { 'Upstash-Workflow-Sdk-Version': '1' }).end(),
  );
  schedules += 1;
  const scheduleId = `fires-${schedules}`;
  const config = {
    ...{ 'workflow-init': 'true', 'workflow-sdk-version': '1', cron: '0 0 1 1 *' },
    ...{ 'schedule-id': scheduleId, 'feature-set': 'LazyFetch,InitialBody,WF_TriggerOnConfig' },
  };
  await services.createSchedule(fixture.account, { ...requestOf(inbox.url, config), prefix: 'Upstash' });
  const schedule = await services.loadSchedule(fixture.account.id, scheduleId);
  const time = Date.now();
  const saveId = schedule?.saveId ?? '';
  const notice = { accountId: fixture.account.id, scheduleId, saveId, time: new Date(time).toISOString() };
  const fire = (): Promise<void> => services.fire(notice, { sentAt: time });
  const states = async (): Promise<readonly string[]> => {
    const id = inbox.deliveries[0]?.headers['upstash-workflow-runid'];
    return typeof id === 'string' ? acts.listed(id) : [];
  };
  return { inbox, fire, states };
}

itAtEachDeath(
  'a fire whose process dies at any of its AWS calls starts one run when it is handed out again',
  async (fate) => {
    const { inbox, fire, states } = await open();
    await fixture.underFate(fate, fire);
    await doJobsUntil(2 * minuteMs);
    expect(inbox.deliveries.length).toBeLessThanOrEqual(1);
    await fire();
    await doJobsUntil(4 * minuteMs);
    expect(inbox.deliveries).toHaveLength(1);
    expect(await states()).toEqual(['RUN_STARTED']);
  },
  { every: { ordinary: 3, thorough: 1 } },
);
