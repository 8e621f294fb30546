/** What must survive: the tables, the bodies, the secrets. */
import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  TableEncryptionV2,
  type TablePropsV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { bodyLifetimesDays, tables, type TableShape } from '../lambdas/resources.ts';
import { namesOf } from './names.ts';
import type { Settings } from './settings.ts';

interface StateStackProps extends StackProps {
  readonly settings: Settings;
  /** Given to the one stack that makes what all regions share: the others, which get replicas of it. */
  readonly makesReplicasIn?: readonly string[];
}

export class StateStack extends Stack {
  readonly messages: TableV2;
  readonly dlq: TableV2;
  readonly groups: TableV2;
  readonly queues: TableV2;
  readonly deduplication: TableV2;
  readonly schedules: TableV2;
  readonly bodies: Bucket;

  constructor(scope: Construct, id: string, props: StateStackProps) {
    super(scope, id, props);
    const { retain, name } = props.settings;
    const names = namesOf(props.settings);
    const removalPolicy = retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;

    this.messages = table(this, 'Messages', tables.messages, retain);
    this.dlq = table(this, 'Dlq', tables.dlq, retain);
    this.groups = table(this, 'Groups', tables.groups, retain);
    this.queues = table(this, 'QueueTable', tables.queues, retain);
    this.schedules = table(this, 'ScheduleTable', tables.schedules, retain);
    this.deduplication = table(this, 'Deduplication', tables.deduplication, retain);
    table(this, 'Usage', tables.usage, retain, { tableName: names.usageTable });

    this.bodies = new Bucket(this, 'Bodies', {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      removalPolicy,
      lifecycleRules: [
        ...bodyLifetimesDays.map((days) => ({
          id: `${days.toString()}d`,
          prefix: `${days.toString()}d/`,
          expiration: Duration.days(days),
        })),
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });

    if (props.makesReplicasIn !== undefined) {
      const replicas = props.makesReplicasIn.map((region) => ({ region }));
      table(this, 'Accounts', tables.accounts, retain, { tableName: names.accountsTable, replicas });
      new Secret(this, 'MasterSecret', {
        secretName: names.masterSecret,
        description: `Every token and signing key of ${name} is derived from this: a new value ends them all`,
        generateSecretString: { passwordLength: 64, excludePunctuation: true },
        replicaRegions: replicas,
        removalPolicy,
      });
      new Secret(this, 'ManagementSecret', {
        secretName: names.managementSecret,
        description: `The credentials of the management API of ${name}: a new value takes effect without redeploying`,
        generateSecretString: {
          secretStringTemplate: JSON.stringify({ username: 'admin' }),
          generateStringKey: 'password',
          passwordLength: 48,
          excludePunctuation: true,
        },
        removalPolicy,
      });
    }
  }
}

/** @param shared given to a table that other regions know by its name, or have replicas of; those are protected alike */
function table(
  scope: Construct,
  id: string,
  shape: TableShape,
  retain: boolean,
  shared: Pick<TablePropsV2, 'tableName' | 'replicas'> = {},
): TableV2 {
  const text = (attribute: string) => ({ name: attribute, type: AttributeType.STRING });
  return new TableV2(scope, id, {
    partitionKey: text(shape.partitionKey),
    ...(shape.sortKey === undefined ? {} : { sortKey: text(shape.sortKey) }),
    ...(shape.ttl === undefined ? {} : { timeToLiveAttribute: shape.ttl }),
    globalSecondaryIndexes: shape.indexes.map((index) => ({
      indexName: index.name,
      partitionKey: text(index.partitionKey),
      sortKey: { name: index.sortKey, type: AttributeType.NUMBER },
    })),
    billing: Billing.onDemand(),
    // Tables are always encrypted; DynamoDB's own key is the one that no request is charged for.
    encryption: TableEncryptionV2.dynamoOwnedKey(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: retain },
    deletionProtection: retain,
    removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    ...shared,
  });
}
