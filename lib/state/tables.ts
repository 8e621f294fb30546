import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AttributeType,
  Billing,
  Capacity,
  ProjectionType,
  TableEncryptionV2,
  type TablePropsV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { TableName, TableShape } from '../../lambdas/aws/resources.ts';
import { namesOf, tableArn } from '../names.ts';
import { valuesIn } from '../regional.ts';
import type { Settings } from '../settings.ts';
import { capacityOf } from './capacity.ts';

/** Tables with fixed names, to which all stacks refer. */
type SharedTable = 'accounts' | 'usage';
export type OwnTables = Readonly<Record<Exclude<TableName, SharedTable>, TableV2>>;

export type Tables = Readonly<Record<TableName, { readonly tableName: string; readonly tableArn: string }>>;

export function tablesOf(scope: Construct, own: OwnTables, settings: Settings): Tables {
  const { accountsTable, usageTable } = namesOf(settings);
  const byName = (tableName: string) => ({ tableName, tableArn: tableArn(scope, tableName) });
  const restored = valuesIn(settings.restoredTables, Stack.of(scope).region).map((value) => {
    const [table = '', tableName = ''] = value.split(':');
    return [table, byName(tableName)] as const;
  });
  return {
    ...own,
    ...Object.fromEntries(restored),
    accounts: byName(accountsTable),
    usage: byName(usageTable),
  };
}

interface TableOptions extends Pick<TablePropsV2, 'tableName' | 'replicas' | 'dynamoStream'> {
  /**
   * Whether the table and its replicas are protected from deletion, and remain when their stack is deleted.
   */
  readonly retain: boolean;
  readonly restorable: boolean;
  readonly capacity?: TableCapacity | undefined;
}

/** Units a second, each as `least-most`. The default is on demand. */
export interface TableCapacity {
  readonly read: string;
  readonly write: string;
}

/** The percentage of its capacity that a table uses before auto scaling adds capacity. */
const targetUse = 70;

/**
 * The seed is the initial capacity of a table that was on demand: "SeedCapacity" of
 * AWS::DynamoDB::GlobalTable's CapacityAutoScalingSettings.
 */
function scaled(range: string): Capacity {
  const { least, most } = capacityOf(range);
  return Capacity.autoscaled({
    minCapacity: least,
    maxCapacity: most,
    targetUtilizationPercent: targetUse,
    seedCapacity: least,
  });
}

export function makeTable(
  scope: Construct,
  id: string,
  shape: TableShape,
  { retain, restorable, capacity, ...shared }: TableOptions,
): TableV2 {
  const provisioned = capacity && {
    readCapacity: scaled(capacity.read),
    writeCapacity: scaled(capacity.write),
  };
  const text = (attribute: string) => ({ name: attribute, type: AttributeType.STRING });
  return new TableV2(scope, id, {
    partitionKey: text(shape.partitionKey),
    ...(shape.sortKey === undefined ? {} : { sortKey: text(shape.sortKey) }),
    ...(shape.ttl === undefined ? {} : { timeToLiveAttribute: shape.ttl }),
    globalSecondaryIndexes: shape.indexes.map((index) => ({
      indexName: index.name,
      partitionKey: text(index.partitionKey),
      sortKey: {
        name: index.sortKey,
        type: index.sortsBy === 'number' ? AttributeType.NUMBER : AttributeType.STRING,
      },
      ...projectionOf(index.includes),
      ...provisioned,
    })),
    billing: provisioned === undefined ? Billing.onDemand() : Billing.provisioned(provisioned),
    // Tables are always encrypted. Only this key is free.
    encryption: TableEncryptionV2.dynamoOwnedKey(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: restorable },
    deletionProtection: retain,
    // `RetainExceptOnCreate` would not help: DynamoDB does not delete a protected table.
    removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    ...shared,
  });
}

function projectionOf(includes: readonly string[] | undefined) {
  if (includes === undefined) return {};
  if (includes.length === 0) return { projectionType: ProjectionType.KEYS_ONLY };
  return { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...includes] };
}
