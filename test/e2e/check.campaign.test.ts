import { describe, expect, it, onTestFinished } from 'vitest';
import { svcQueue } from '../support/command.ts';
import { putQueue } from '../support/lanes.ts';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import { startStage, type Stage, type StageOptions } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

describe.runIf(service.target === 'local')('svc-queue check', () => {
  const receiver = useReceiver();

  async function start(options: StageOptions = {}): Promise<Stage> {
    const stage = await startStage(options);
    onTestFinished(() => stage.remove());
    return stage;
  }

  /** Publishes in every way until the signal aborts or the stage is killed. */
  async function publishUntil(over: AbortSignal, { url, token }: Stage, to: string): Promise<void> {
    const headers = { authorization: `Bearer ${token}` };
    const items = Array.from({ length: 60 }, (_, number) => ({ destination: to, body: String(number) }));
    const each = [
      () => publish(to, { url, token, headers: { 'Svc-Retry-Delay': '1000' } }),
      () => publish(to, { url, token, headers: { 'Svc-Delay': '1h' }, body: 'x'.repeat(20_000) }),
      () => call(`/v2/enqueue/busy/${to}`, { method: 'POST', headers }, url),
      () => call('/v2/batch', { method: 'POST', headers, body: JSON.stringify(items) }, url),
    ];
    for (let number = 0; !over.aborted; number += 1) {
      const answer = await each[number % each.length]?.().catch(() => undefined);
      // It was killed.
      if (answer === undefined) return;
    }
  }

  it('finds a stage whole that is at work', async () => {
    const stage = await start();
    const { url, token } = stage;
    let number = 0;
    const inbox = receiver.inbox((_delivery, response) => {
      response.writeHead((number += 1) % 5 === 0 ? 500 : 200).end();
    });
    await putQueue('busy', { parallelism: 3 }, { token, url });
    const over = new AbortController();
    const publishing = Array.from({ length: 8 }, () => publishUntil(over.signal, stage, inbox.url));
    for (let round = 1; round <= 3; round += 1) {
      const seen = inbox.deliveries.length;
      await inbox.until(() => inbox.deliveries.length > seen + 100);
      const checked = await svcQueue(['check', '--data-dir', stage.dataDir]);
      expect(checked.output).toMatch(/ is whole\.\n$/);
      expect(checked.code).toBe(0);
      expect(checked.output).toMatch(/^[1-9]\d* rows of messages$/m);
    }
    over.abort();
    await Promise.all(publishing);
    messageIdOf(await publish(inbox.url, { url, token }));
  });

  it('tells publishes that a kill interrupted from messages that were accepted', async () => {
    let stage = await start();
    const inbox = receiver.inbox();
    for (let kills = 1; kills <= 3; kills += 1) {
      await putQueue('busy', { parallelism: 1, paused: true }, stage);
      const seen = inbox.deliveries.length;
      const publishing = Array.from({ length: 8 }, () =>
        publishUntil(new AbortController().signal, stage, inbox.url),
      );
      await inbox.until(() => inbox.deliveries.length > seen + 100);
      await stage.kill();
      await Promise.all(publishing);
      const checked = await svcQueue(['check', '--data-dir', stage.dataDir]);
      expect(checked.output).toMatch(/ is whole\.\n$/);
      stage = await start({ dataDir: stage.dataDir });
    }
    // Each start has sent the messages that a kill had left without a job, so nothing is lost.
    await stage.stop();
    const { output } = await svcQueue(['check', '--data-dir', stage.dataDir]);
    expect(output).toMatch(/ is whole\.\n$/);
    expect(output).toMatch(/^0 publishes without an answer/m);
  });
});
