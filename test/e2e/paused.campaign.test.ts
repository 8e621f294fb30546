import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { basic } from '../support/accounts.ts';
import { svcQueue } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { call, messageIdOf, publish, refusalOf, service, type Answer } from '../support/publish.ts';
import { startStage, type Stage, type StageOptions } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const sentence =
  'The service is paused: it can be read, but changes and delivers nothing, until it is started without --paused.';
const hourMs = 3_600_000;

const countOf = ({ output }: { readonly output: string }, what: string): number =>
  Number(new RegExp(`^(\\d+) ${what}$`, 'm').exec(output)?.[1]);

describe.runIf(service.target === 'local')('a paused stage', () => {
  const receiver = useReceiver();
  const stages: Stage[] = [];
  afterEach(async () => {
    for (const stage of stages.splice(0)) await stage.remove();
  });
  const start = async (options: StageOptions = {}): Promise<Stage> => {
    const stage = await startStage(options);
    stages.push(stage);
    return stage;
  };

  const ask = (
    { url, token }: Stage,
    method: string,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    call(path, { method, headers: { authorization: `Bearer ${token}`, ...headers } }, url);

  const asManager = (stage: Stage, method: string, path: string): Promise<Answer> => {
    const { management } = stage;
    return ask(stage, method, path, { authorization: basic(management.user, management.password) });
  };

  it.each([1, 2])(
    'of %i processes can be read, changes and delivers nothing, and continues without --paused',
    async (processes) => {
      const env = { SVC_PROCESSES: String(processes) };
      const first = await start({ testControl: true });
      const { dataDir } = first;
      const inbox = receiver.inbox();
      const cron = { 'Svc-Cron': '0 * * * *', 'Svc-Schedule-Id': 'hourly' };
      expect((await ask(first, 'POST', `/v2/schedules/${inbox.url}`, cron)).status).toBe(200);
      const headers = { 'Svc-Delay': '1h' };
      const id = messageIdOf(await publish(inbox.url, { ...first, headers, body: '東京' }));
      messageIdOf(await publish(inbox.url, { ...first, headers: { 'Svc-Delay': '10m' } }));
      await first.stop();
      const before = await svcQueue(['check', '--data-dir', dataDir]);

      const args = ['--paused', '--publish-port', '0'];
      const paused = await start({ dataDir, args, env, testControl: processes === 1 });
      expect([paused.token, paused.output()]).toEqual([first.token, expect.stringContaining(sentence)]);
      if (processes === 1) await paused.step(8 * hourMs);
      const ready = await ask(paused, 'GET', '/v2/ready');
      expect([ready.status, refusalOf(ready)]).toEqual([503, { error: sentence, code: 'service_paused' }]);
      for (const path of [
        ...['/v2/health', '/v2/logs', '/v2/schedules/hourly', `/v2/messages/${id}`, '/v2/messages'],
        ...['/v2/queues', '/v2/keys', '/v2/stats', '/v2/dlq', '/v2/audit', '/v2/openapi.json'],
      ])
        expect([path, (await ask(paused, 'GET', path)).status]).toEqual([path, 200]);
      for (const [method, path] of [
        ['POST', `/v2/publish/${inbox.url}`],
        ['POST', `/queue/v2/Publish/${inbox.url}`],
        ['DELETE', `/v2/messages/${id}`],
        ['PUT', '/v2/alarms'],
        ['PATCH', '/v2/schedules/hourly'],
        ['GET', '/v2/workflows/hooks/a/b/c'],
        ['HEAD', '/v2//Workflows//hooks/a/b/c'],
      ] as const)
        expect([method, path, (await ask(paused, method, path)).status]).toEqual([method, path, 503]);
      const large = await publish(inbox.url, { ...paused, body: 'x'.repeat(1_000_000) });
      const byUrl = await publish(inbox.url, { token: paused.token, url: paused.publishUrl ?? '' });
      expect([large, byUrl].map((answer) => refusalOf(answer).error)).toEqual([sentence, sentence]);
      expect((await fetch(`${paused.url}/console`)).status).toBe(200);
      expect((await asManager(paused, 'GET', '/v2/svc/users')).status).toBe(200);
      expect((await asManager(paused, 'POST', '/v2/svc/users')).status).toBe(503);
      const redrive = await svcQueue(['redrive', '--data-dir', dataDir]);
      expect(redrive).toMatchObject({ code: 2, output: `${sentence}\n` });
      const backup = ['backup', `${dataDir}.tar.gz`, '--force', '--data-dir', dataDir];
      expect(await svcQueue(backup)).toMatchObject({ code: 0 });
      await paused.kill();

      const after = await svcQueue(['check', '--data-dir', dataDir]);
      for (const what of ['messages in queues', 'schedules', 'rows of messages', 'rows of lanes'])
        expect([what, countOf(after, what)]).toEqual([what, countOf(before, what)]);
      expect([after.code, inbox.deliveries]).toEqual([0, []]);
      const again = await start({ dataDir, testControl: true });
      await again.advance(hourMs);
      await inbox.received(3);
      expect(
        (
          await eventually(
            () => ask(again, 'GET', '/v2/ready'),
            ({ status }) => status === 200,
          )
        ).status,
      ).toBe(200);
    },
  );

  it('needs data that a stage has kept', async () => {
    const folder = join(tmpdir(), `svc-none-${process.pid}`);
    const none = await svcQueue(['start', '--paused', '--data-dir', folder]);
    expect(none).toMatchObject({
      code: 2,
      output: `${folder} is not the data directory of a stage: it has no master-secret.\n`,
    });
    for (const flag of ['--in-memory', '--dev'])
      expect((await svcQueue(['start', '--paused', flag])).output).toMatch(
        /^--paused excludes --in-memory and --dev/,
      );
  });
});
