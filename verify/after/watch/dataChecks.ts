/** Checks that the tables have the expiry, recovery and protection that the templates specify. */
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { type Check, expectNone } from '../../check.ts';
import type { After } from '../context.ts';

const tableShape = z.object({
  TableName: z.string().optional(),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.boolean() }).optional(),
  Replicas: z.array(
    z.object({
      Region: z.string(),
      DeletionProtectionEnabled: z.boolean().default(false),
      PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }).optional(),
    }),
  ),
});

interface Keeping {
  readonly table: string;
  /** The attribute with the expiry; undefined if nothing expires. */
  readonly expiry: string | undefined;
  readonly isRecoverable: boolean;
  readonly isProtected: boolean;
}

/** Finds the tables with a replica in a region, and what all regions' templates specify for them. */
export function wantedTables({
  templates,
  resources,
  region,
}: Pick<After, 'templates' | 'resources' | 'region'>): readonly Keeping[] {
  return templates.flatMap((stack) =>
    Object.entries(stack.resources).flatMap(([id, { Type, Properties }]) => {
      if (Type !== 'AWS::DynamoDB::GlobalTable') return [];
      const { TableName, TimeToLiveSpecification: ttl, Replicas } = tableShape.parse(Properties);
      const replica = Replicas.find(({ Region }) => Region === region);
      const own = resources.find(({ logicalId, type }) => logicalId === id && type === Type);
      const table = TableName ?? (stack.region === region ? own?.physicalId : undefined);
      return replica === undefined || table === undefined
        ? []
        : [
            {
              table,
              expiry: ttl?.Enabled === true ? ttl.AttributeName : undefined,
              isRecoverable: replica.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled === true,
              isProtected: replica.DeletionProtectionEnabled,
            },
          ];
    }),
  );
}

async function keepingOf({ clients: { dynamodb } }: After, TableName: string): Promise<Keeping> {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }));
  const { TimeToLiveDescription: ttl } = await dynamodb.send(new DescribeTimeToLiveCommand({ TableName }));
  const { ContinuousBackupsDescription: backups } = await dynamodb.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  );
  return {
    table: TableName,
    expiry: /^ENABL/.test(ttl?.TimeToLiveStatus ?? '') ? ttl?.AttributeName : undefined,
    isRecoverable: backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED',
    isProtected: Table?.DeletionProtectionEnabled === true,
  };
}

export const differencesOf = (wanted: Keeping, found: Keeping): readonly string[] => [
  ...(wanted.expiry === found.expiry
    ? []
    : [
        `${wanted.table} expires by ${found.expiry ?? 'nothing'}, and has to by ${wanted.expiry ?? 'nothing'}`,
      ]),
  ...(wanted.isRecoverable === found.isRecoverable
    ? []
    : [`${wanted.table} has point-in-time recovery ${found.isRecoverable ? 'on' : 'off'}`]),
  ...(wanted.isProtected === found.isProtected
    ? []
    : [`${wanted.table} is ${found.isProtected ? '' : 'not '}protected from deletion`]),
];

export const dataCheck: Check<After> = {
  name: 'data-settings',
  shows: 'expiry, point-in-time recovery and deletion protection of the tables are as set',
  remedy:
    'svc-queue deploy -- --revert-drift brings the tables back to their templates; after a restore, docs/recovery.md says what to turn on again.',
  run: async (after) => {
    const wanted = wantedTables(after);
    const differences: string[] = [];
    for (const one of wanted) differences.push(...differencesOf(one, await keepingOf(after, one.table)));
    expectNone(differences, (list) => `The tables are not as the settings ask for: ${list}.`);
    const count = (is: (one: Keeping) => boolean): number => wanted.filter(is).length;
    return `of ${wanted.length} tables ${count(({ expiry }) => expiry !== undefined)} expire rows, ${count(({ isRecoverable }) => isRecoverable)} can be recovered to any second, ${count(({ isProtected }) => isProtected)} are protected from deletion, as set`;
  },
};
