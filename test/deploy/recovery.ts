/**
 * `npm run test:recovery`: on an AWS emulator, restores a region’s tables under other names, deletes the contents of its queues
 * and Scheduler, and recreates them with `npm run recover`. Then it empties the region with `npm run drain`.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DynamoDBClient,
  ListTablesCommand,
  RestoreTableToPointInTimeCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { DeleteScheduleCommand, ListSchedulesCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import { ListQueuesCommand, PurgeQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { rootUser } from './emulator.ts';
import { type OneRegion, pauseLine, region, withOneRegion } from './oneRegion.ts';
import { runProgram } from './program.ts';

const root = resolve(import.meta.dirname, '../..');

function expectThat(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(`It does not hold: ${sentence}`);
}

/** Runs an operator’s command, like `npm run <name>`. @returns its exit status and output */
function operate(
  { cdk, say }: Pick<OneRegion, 'cdk' | 'say'>,
  name: string,
  args: readonly string[],
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'bin/svcQueue.ts', name, ...args], {
      cwd: root,
      env: { ...process.env, ...cdk.env, CLIENT_PATIENCE: '10' },
      timeout: 2 * limitForHangsMs,
    });
    let output = '';
    const add = (data: Buffer): void => {
      output += data.toString();
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.once('error', failed);
    child.once('close', (status) => {
      say(`${name} ${args.join(' ')} ended with ${String(status)}:\n${output.trimEnd()}`);
      done({ status, output });
    });
  });
}

/** Restores tables to the present, under other names. @returns the setting with which functions use them */
async function restoreTables(endpoint: string, tables: readonly string[]): Promise<string> {
  const client = new DynamoDBClient({ ...clientOptions('quick'), endpoint, region, credentials: rootUser });
  const { TableNames = [] } = await client.send(new ListTablesCommand({}));
  const settings = tables.map(async (table) => {
    const of = `State-${table}`;
    const SourceTableName = TableNames.find((name) => name.toLowerCase().includes(of.toLowerCase()));
    const TargetTableName = `Svc-${table}-restored`;
    await client.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName,
        TargetTableName,
        UseLatestRestorableTime: true,
      }),
    );
    await waitUntilTableExists(
      { client, maxWaitTime: limitForHangsMs / 1_000 },
      { TableName: TargetTableName },
    );
    return `${region}=${table}:${TargetTableName}`;
  });
  return (await Promise.all(settings)).join(',');
}

/** Deletes the contents of all queues and Scheduler. @returns the number of deleted schedules */
async function loseWork(endpoint: string): Promise<number> {
  const place = { endpoint, region, credentials: rootUser };
  const sqs = new SQSClient({ ...clientOptions('quick'), ...place, useQueueUrlAsEndpoint: false });
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({}));
  for (const QueueUrl of QueueUrls) await sqs.send(new PurgeQueueCommand({ QueueUrl }));
  const scheduler = new SchedulerClient({ ...clientOptions('quick'), ...place });
  const { Schedules = [] } = await scheduler.send(new ListSchedulesCommand({}));
  for (const { Name, GroupName } of Schedules)
    await scheduler.send(new DeleteScheduleCommand({ Name, GroupName }));
  return Schedules.length;
}

/** The delay of messages that are due only after the queues were emptied: longer than the deployment before that. */
const delaySeconds = 420;

async function main(): Promise<void> {
  await withOneRegion(
    () => ({ name: 'the service' }),
    async (deployed) => {
      const { call, publish, receiver, deploy, awsUrl, say } = deployed;
      const inbox = receiver.inbox();
      const line = await pauseLine(call, receiver);
      await call('POST', `/v2/schedules/${inbox.url}`, {
        'svc-cron': '0 0 1 1 *',
        'svc-schedule-id': 'yearly',
      });
      const waiting = ['a', 'b', 'c'].map((body) => publish(inbox.url, body, delaySeconds));
      const near = await Promise.all(waiting);
      const dueBy = Date.now() + delaySeconds * 1_000;
      const far = await publish(inbox.url, 'far', 7_200);

      const before = Date.now();
      const restoredTables = await restoreTables(awsUrl, ['messages', 'lanes', 'workflows']);
      say('tables are restored');
      await deploy('the service with the restored tables', undefined, { restoredTables });
      const lost = await loseWork(awsUrl);
      expectThat(lost >= 2, 'Scheduler had the far message and the schedule');

      const args = ['--region', region, '--restored-to', new Date(before).toISOString()];
      const dry = await operate(deployed, 'recover', [...args, '--dry-run']);
      expectThat(
        dry.status === 0 && dry.output.includes('Would be recreated: attempts 4,'),
        'four would be sent',
      );
      const recovered = await operate(deployed, 'recover', args);
      expectThat(recovered.status === 0, 'recover ends well');
      expectThat(
        recovered.output.includes('schedules 1,') && recovered.output.includes('in their lines: 3.'),
        'all is found',
      );
      await line.resume();

      const once = await operate(deployed, 'drain', ['--region', region, '--once']);
      expectThat(once.status === 1 && once.output.includes('Left: 4 messages'), 'four messages are left');
      const refused = await publish(inbox.url, 'too late', 0).catch(String);
      expectThat(refused.includes('503') && refused.includes('region_draining'), 'nothing new is taken');
      const wrong = await operate(deployed, 'drain', ['--region', 'eu-west-3', '--once']);
      expectThat(
        wrong.status === 2 && wrong.output.includes('There is no stack'),
        'another region is refused',
      );

      await call('DELETE', `/v2/messages/${far}`);
      await call('DELETE', '/v2/schedules/yearly');
      const draining = operate(deployed, 'drain', ['--region', region, '--every', '10']);
      // On a fast machine, everything is done long before they are due.
      await sleep(Math.max(0, dueBy - Date.now()));
      await inbox.until((all) =>
        near.every((id) => all.some(({ headers }) => headers['svc-message-id'] === id)),
      );
      say('what was lost has arrived');
      expectThat((await draining).status === 0, 'the region is empty');

      const undone = await operate(deployed, 'drain', ['--region', region, '--undo']);
      expectThat(undone.status === 0, 'it is undone');
      await publish(inbox.url, 'new', 0);
      await inbox.until((all) => all.some(({ body }) => body.toString() === 'new'));
      say('the region takes messages again');
    },
  );
}

// The SDK would warn about this Node version.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
await runProgram(main);
