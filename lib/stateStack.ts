import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { StreamViewType } from 'aws-cdk-lib/aws-dynamodb';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct, IConstruct } from 'constructs';
import { bodyLifetimesDays, tables } from '../lambdas/aws/resources.ts';
import { accept, acceptSecret } from './acknowledge.ts';
import { fixedOf, namesOf } from './names.ts';
import { setFlags } from './flags.ts';
import type { Settings } from './settings.ts';
import { makeTable, type OwnTables, type TableCapacity } from './state/tables.ts';

interface StateStackProps extends StackProps {
  readonly settings: Settings;
  /** Only for the first region's stack, which makes the shared resources with replicas in these regions. */
  readonly makesReplicasIn?: readonly string[];
}

export class StateStack extends Stack {
  readonly tables: OwnTables;
  readonly bodies: Bucket;
  /** Exports of values that may not change. */
  readonly fixed: readonly string[];

  constructor(scope: Construct, id: string, { settings, makesReplicasIn, ...props }: StateStackProps) {
    super(scope, id, props);
    setFlags(this);
    const kept = keptAs(settings);
    this.tables = {
      messages: makeTable(this, 'Messages', tables.messages, { ...kept, capacity: capacityIn(settings) }),
      dlq: makeTable(this, 'Dlq', tables.dlq, kept),
      groups: makeTable(this, 'Groups', tables.groups, kept),
      lanes: makeTable(this, 'Lanes', tables.lanes, kept),
      workflows: makeTable(this, 'Workflows', tables.workflows, kept),
      schedules: makeTable(this, 'ScheduleTable', tables.schedules, kept),
      deduplication: makeTable(this, 'Deduplication', tables.deduplication, kept),
    };
    // The service stack imports these exports, except for a restored table. CloudFormation refuses to delete
    // an export in use, so even that one is kept.
    for (const table of Object.values(this.tables)) {
      this.exportValue(table.tableName);
      this.exportValue(table.tableArn);
    }
    this.bodies = this.makeBucket(settings);
    const named = [
      ...(makesReplicasIn === undefined ? [] : this.makeShared(settings, makesReplicasIn)),
      makeTable(this, 'Usage', tables.usage, { ...kept, tableName: namesOf(settings).usageTable }),
    ];
    makeFirst(named, [...Object.values(this.tables), this.bodies]);
    this.fixed = Object.entries(fixedOf(settings)).map(([setting, value]) =>
      this.exportValue(value, { name: `${this.stackName}:${setting}` }),
    );
  }

  private makeBucket(settings: Settings): Bucket {
    const bucket = new Bucket(this, 'Bodies', {
      ...privately(settings),
      // The log shows who read which body when. A bucket that is deleted with its stack must be empty, so it
      // has no log.
      ...(settings.retain && { serverAccessLogsBucket: this.makeAccessLog(settings) }),
      lifecycleRules: [
        ...bodyLifetimesDays.map((days) => ({
          id: `${days.toString()}d`,
          prefix: `${days.toString()}d/`,
          expiration: Duration.days(days),
        })),
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
    acceptPlainBucket(bucket);
    if (!settings.retain) {
      accept(
        bucket,
        ['AwsSolutions-S1', 'NIST.800.53.R5-S3BucketLoggingEnabled'],
        'Without `retain` everything goes with its stack, and S3 deletes no bucket that has something in it. Access logs come ' +
          'for hours after the last request, so their bucket would stay.',
      );
    }
    return bucket;
  }

  /** Kept as long as other logs. */
  private makeAccessLog(settings: Settings): Bucket {
    const days = settings.logRetentionDays;
    const bucket = new Bucket(this, 'BodiesAccessLog', {
      ...privately(settings),
      ...(days !== RetentionDays.INFINITE && {
        lifecycleRules: [{ id: 'expiry', expiration: Duration.days(days) }],
      }),
    });
    acceptPlainBucket(bucket);
    return bucket;
  }

  /**
   * Makes what a deployment has only once: the table of accounts and the master secret, with replicas, and
   * the management password.
   *
   * @returns first the resources that are deleted if a first deployment fails
   */
  private makeShared(settings: Settings, otherRegions: readonly string[]): readonly IConstruct[] {
    const { name, retain } = settings;
    const names = namesOf(settings);
    const replicas = otherRegions.map((region) => ({ region }));
    const accounts = makeTable(this, 'Accounts', tables.accounts, {
      ...keptAs(settings),
      tableName: names.accountsTable,
      replicas,
      // Replicas need a stream, and a table may not get its stream and its first replica at once. A stream without readers is
      // free.
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
    });
    // The arguments of `generateSecretString` may never change. CloudFormation would generate another value,
    // and all tokens and signing keys would become invalid. The same applies to the password below.
    const masterSecret = new Secret(this, 'MasterSecret', {
      secretName: names.masterSecret,
      description: `Every token and signing key of ${name} is derived from this: a new value ends them all`,
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      replicaRegions: replicas,
      removalPolicy: removalPolicyOf(retain),
    });
    acceptSecret(
      masterSecret,
      'Every token and signing key is derived from it, so a new value needs an overlap in which customers take over ' +
        'their new tokens. A person decides when it ends: docs/deploy.md, "Another master secret".',
    );
    const managementSecret = new Secret(this, 'ManagementSecret', {
      secretName: names.managementSecret,
      description: `The credentials of the management API of ${name}: a new value takes effect without redeploying`,
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ username: 'admin' }),
        generateStringKey: 'password',
        passwordLength: 48,
        excludePunctuation: true,
      },
      removalPolicy: removalPolicyOf(retain),
    });
    acceptSecret(
      managementSecret,
      'People and scripts know this password, and a new one would lock them out at a time they do not know. ' +
        'An operator sets it with one command and no deployment: docs/deploy.md.',
    );
    return [masterSecret, managementSecret, accounts];
  }
}

/**
 * Makes resources with fixed names one by one, before all others. So if they fail in a first deployment, no
 * table is left: see {@link makeTable}.
 */
function makeFirst(named: readonly IConstruct[], others: readonly IConstruct[]): void {
  named.forEach((next, at) => {
    const before = named[at - 1];
    if (before !== undefined) next.node.addDependency(before);
  });
  for (const other of others) other.node.addDependency(...named.slice(-1));
}

/** Accepts findings in a bucket whose objects are written once and expire. */
function acceptPlainBucket(bucket: Bucket): void {
  accept(
    bucket,
    ['NIST.800.53.R5-S3BucketVersioningEnabled', 'NIST.800.53.R5-S3BucketReplicationEnabled'],
    'An object is written once and never changed, and regions share no messages. S3 keeps each object in three zones.',
  );
  accept(
    bucket,
    'NIST.800.53.R5-S3DefaultEncryptionKMS',
    'S3 encrypts with its own keys. A key of the operator would cost a call for each body, and bodies would be lost with it.',
  );
}

const privately = ({ retain }: Settings): BucketProps => ({
  encryption: BucketEncryption.S3_MANAGED,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  enforceSSL: true,
  removalPolicy: removalPolicyOf(retain),
});

const keptAs = ({ retain, pointInTimeRecovery = retain }: Settings) => ({
  retain,
  restorable: pointInTimeRecovery,
});

/**
 * Only for messages, whose writes are most of DynamoDB's cost. Other tables would save little, and the one
 * with replicas would need the same auto scaling in all regions.
 */
const capacityIn = ({ readCapacity: read, writeCapacity: write }: Settings): TableCapacity | undefined =>
  read === undefined || write === undefined ? undefined : { read, write };

/**
 * Even buckets and secrets that are kept are deleted if their creation fails. They are empty, and a secret's
 * fixed name would be taken.
 */
const removalPolicyOf = (retain: boolean): RemovalPolicy =>
  retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
