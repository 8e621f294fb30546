/** The permissions of functions. A test compares each role with what its function's code can do. */
import type { Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { QueueName, TableName, tables } from '../../lambdas/aws/resources.ts';
import { arnKinds } from '../../lambdas/destination/arns.ts';
import { PatternStatement, shownArn, shownObjectsOf } from '../acknowledge.ts';
import { namesOf, queueArn, secretArn } from '../names.ts';
import type { Queues } from '../state/queues.ts';
import type { ScheduleGroup } from '../state/scheduleGroup.ts';
import { destinationServiceOf } from '../settingTypes.ts';
import type { Settings } from '../settings.ts';
import {
  allow,
  alsoInBatches,
  noteHostsAndUses,
  readApiHosts,
  readTlsSecrets,
  removeTokens,
} from '../statements.ts';
import type { Tables } from '../state/tables.ts';

type TableAction =
  | 'GetItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'Query'
  | 'Scan'
  | 'BatchGetItem'
  | 'BatchWriteItem';
type BodyAction = 'GetObject' | 'PutObject' | 'DeleteObject';

export interface Resources {
  readonly settings: Settings;
  readonly tables: Tables;
  readonly bodies: IBucket;
  readonly queues: Queues;
  readonly scheduleGroup: ScheduleGroup;
}

export class Rights {
  readonly #stack: Stack;
  readonly #resources: Resources;

  constructor(stack: Stack, resources: Resources) {
    this.#stack = stack;
    this.#resources = resources;
  }

  on(table: TableName, ...actions: TableAction[]): PolicyStatement {
    return allow(
      actions.map((action) => `dynamodb:${action}`),
      this.#resources.tables[table].tableArn,
    );
  }

  queryIndex<T extends TableName>(
    table: T,
    index: (typeof tables)[T]['indexes'][number]['name'],
  ): PolicyStatement {
    return allow(['dynamodb:Query'], `${this.#resources.tables[table].tableArn}/index/${index}`);
  }

  onBodies(...actions: BodyAction[]): PolicyStatement {
    const { bodies } = this.#resources;
    return new PatternStatement(
      actions.map((action) => `s3:${action}`),
      bodies.arnForObjects('*'),
      'A body has the name of its message, so the right covers all objects of this bucket.',
      shownObjectsOf(bodies),
    );
  }

  /**
   * Without this permission S3 answers 403 for a missing body. It counts as an outage, so the job would be retried forever.
   */
  seeMissingBodies(): PolicyStatement {
    return allow(['s3:ListBucket'], this.#resources.bodies.bucketArn);
  }

  sendToDestinations(): PolicyStatement[] {
    const { destinations, lambdaDestinations } = this.#resources.settings;
    return [...new Set([...destinations, ...lambdaDestinations])].flatMap((pattern) => {
      const service = destinationServiceOf(pattern);
      if (service === undefined) return [];
      const actions = [arnKinds[service].action];
      return pattern.includes('*')
        ? new PatternStatement(
            actions,
            pattern,
            'The operator lists allowed destinations in the settings `destinations` and `lambdaDestinations`.',
          )
        : allow(actions, pattern);
    });
  }

  readTlsSecrets(): PolicyStatement {
    return readTlsSecrets(this.#stack, this.#resources.settings);
  }

  /** One message at a time. */
  send(...names: QueueName[]): PolicyStatement {
    return allow(['sqs:SendMessage'], ...names.map((name) => this.#resources.queues[name].queueArn));
  }

  sendJobsInBatches(): PolicyStatement {
    const { queues, settings } = this.#resources;
    return allow(
      alsoInBatches(settings.forEmulator, 'sqs:SendMessage'),
      queues.short.queueArn,
      queues.long.queueArn,
    );
  }

  redrive(): PolicyStatement[] {
    const { queues, settings } = this.#resources;
    return [
      allow(['sqs:ReceiveMessage', 'sqs:DeleteMessage'], queues.parked.queueArn),
      allow(alsoInBatches(settings.forEmulator, 'sqs:ChangeMessageVisibility'), queues.parked.queueArn),
      this.send('short', 'long', 'slow', 'dead', 'fire', 'accountChanges'),
    ];
  }

  makeSchedules(): PolicyStatement[] {
    const { role } = this.#resources.scheduleGroup;
    const pass = allow(['iam:PassRole'], role.roleArn);
    // "Grant a user permissions to pass a role to an AWS service" (IAM User Guide).
    pass.addCondition('StringEquals', { 'iam:PassedToService': 'scheduler.amazonaws.com' });
    return [this.#onSchedules('scheduler:CreateSchedule'), pass];
  }

  endSchedules(): PolicyStatement {
    return this.#onSchedules('scheduler:DeleteSchedule');
  }

  #onSchedules(action: string): PolicyStatement {
    const { scheduleArns } = this.#resources.scheduleGroup;
    return new PatternStatement(
      [action],
      scheduleArns,
      'A schedule is made for an attempt that is due later, and its name is the message. The group, which is in the ARN, ' +
        'bounds the right.',
      shownArn(this.#stack, scheduleArns),
    );
  }

  countUsage(): PolicyStatement {
    return this.on('usage', 'UpdateItem', 'Query');
  }

  /** The quiet periods of debounced messages. */
  endPeriods(): PolicyStatement {
    return this.on('deduplication', 'UpdateItem');
  }

  /** For operations in the background. If there are too many, the new one is removed. */
  startBulk(): PolicyStatement {
    return this.on('usage', 'PutItem', 'DeleteItem');
  }

  countOutcomes(): PolicyStatement[] {
    return [
      this.queryIndex('messages', 'log'),
      this.on('messages', 'Query', 'BatchGetItem'),
      this.on('usage', 'GetItem', 'PutItem'),
    ];
  }

  findAttention(): PolicyStatement[] {
    return [
      this.queryIndex('messages', 'log'),
      ...this.listLanes(),
      this.on('dlq', 'GetItem', 'Query'),
      this.on('schedules', 'Query'),
      // Hanging runs are found in their journals and attempts, and failing schedules in their messages.
      this.on('workflows', 'Query'),
      this.on('messages', 'Query', 'BatchGetItem'),
    ];
  }

  /** Allows deriving tokens and signing keys, and reading the account and its usage. */
  authenticate(): PolicyStatement[] {
    const { masterSecret } = namesOf(this.#resources.settings);
    return [
      allow(['secretsmanager:GetSecretValue'], secretArn(this.#stack, masterSecret)),
      this.on('accounts', 'GetItem'),
      this.countUsage(),
    ];
  }

  /** For the hosts of all APIs of the deployment, which are refused as destinations. */
  knowHosts(): PolicyStatement {
    const { tables: all, settings } = this.#resources;
    return readApiHosts(all.accounts.tableArn, settings.regions);
  }

  /** For every function behind the messaging API whose routes require a token. */
  answerRequests(): PolicyStatement[] {
    const accountsArn = this.#resources.tables.accounts.tableArn;
    return [
      ...this.authenticate(),
      this.knowHosts(),
      noteHostsAndUses(accountsArn, this.#stack.region, 'messaging'),
    ];
  }

  /** Allows changing lanes, and sending pumps and admitted jobs. */
  changeLanes(): PolicyStatement[] {
    return [
      this.on('lanes', 'GetItem', 'BatchGetItem', 'PutItem', 'BatchWriteItem'),
      this.sendJobsInBatches(),
      ...this.makeSchedules(),
    ];
  }

  listLanes(): PolicyStatement[] {
    return [this.queryIndex('lanes', 'names'), this.on('lanes', 'BatchGetItem')];
  }

  readTenants(): PolicyStatement {
    return this.on('lanes', 'Query');
  }

  /** Allows making a queue when a message first names it, and joining its waiting line. */
  ensureQueues(): PolicyStatement[] {
    return [...this.changeLanes(), this.queryIndex('lanes', 'names')];
  }

  changeRuns(): PolicyStatement {
    return this.on('workflows', 'Query', 'GetItem', 'PutItem', 'UpdateItem');
  }

  /** A run's end replaces its rows in the list. */
  endRuns(): PolicyStatement {
    return this.on('workflows', 'Query', 'GetItem', 'PutItem', 'UpdateItem', 'BatchWriteItem');
  }

  removeTokens(): PolicyStatement {
    return removeTokens(this.#resources.tables.accounts.tableArn);
  }

  /** Tells them that an account was changed. */
  tellRegions(): PolicyStatement {
    const { settings } = this.#resources;
    const { accountChangesQueue } = namesOf(settings);
    return allow(
      ['sqs:SendMessage'],
      ...settings.regions.map((region) => queueArn(this.#stack, accountChangesQueue, region)),
    );
  }
}
