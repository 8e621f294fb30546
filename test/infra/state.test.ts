import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { bodyLifetimesDays, tables } from '../../lambdas/aws/resources.ts';
import { properties, resources, synthesizeOne } from './app.ts';
import { otherValues, reduced, tuned } from './variants.ts';

const kept = synthesizeOne().state;
const thrownAway = synthesizeOne(reduced).state;

const keySchema = z.array(z.object({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));
const tableShape = z.object({
  BillingMode: z.literal('PAY_PER_REQUEST'),
  KeySchema: keySchema,
  AttributeDefinitions: z.array(z.object({ AttributeName: z.string(), AttributeType: z.string() })),
  GlobalSecondaryIndexes: z
    .array(
      z.object({
        IndexName: z.string(),
        KeySchema: keySchema,
        Projection: z.object({
          ProjectionType: z.string(),
          NonKeyAttributes: z.optional(z.array(z.string())),
        }),
      }),
    )
    .default([]),
  TimeToLiveSpecification: z.object({ AttributeName: z.string(), Enabled: z.literal(true) }).optional(),
  Replicas: z.tuple([
    z.object({
      Region: z.string(),
      DeletionProtectionEnabled: z.boolean(),
      PointInTimeRecoverySpecification: z.object({ PointInTimeRecoveryEnabled: z.boolean() }),
    }),
  ]),
});

function projectionOf(includes: readonly string[] | undefined): readonly string[] {
  if (includes === undefined) return ['ALL'];
  return includes.length === 0 ? ['KEYS_ONLY'] : ['INCLUDE', ...includes];
}

describe('the tables', () => {
  it('have the keys, indexes and expiry that the stores use', () => {
    const made = properties(kept, 'AWS::DynamoDB::GlobalTable', tableShape).map((table) => {
      const types = new Map(table.AttributeDefinitions.map((a) => [a.AttributeName, a.AttributeType]));
      const key = (keys: z.output<typeof keySchema>) =>
        keys.map(
          ({ AttributeName, KeyType }) => `${KeyType} ${AttributeName} ${types.get(AttributeName) ?? ''}`,
        );
      return {
        key: key(table.KeySchema),
        indexes: table.GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => ({
          name: IndexName,
          key: key(KeySchema),
          projection: [Projection.ProjectionType, ...(Projection.NonKeyAttributes ?? [])],
        })),
        ttl: table.TimeToLiveSpecification?.AttributeName,
      };
    });
    const wanted = Object.values(tables).map((table) => ({
      key: [`HASH ${table.partitionKey} S`, ...('sortKey' in table ? [`RANGE ${table.sortKey} S`] : [])],
      indexes: table.indexes.map((index) => ({
        name: index.name,
        key: [
          `HASH ${index.partitionKey} S`,
          `RANGE ${index.sortKey} ${index.sortsBy === 'number' ? 'N' : 'S'}`,
        ],
        projection: projectionOf('includes' in index ? index.includes : undefined),
      })),
      ttl: 'ttl' in table ? table.ttl : undefined,
    }));
    const byText = (list: readonly object[]) => list.map((table) => JSON.stringify(table)).sort();
    expect(byText(made)).toEqual(byText(wanted));
  });

  it.each([
    ['true', true, kept],
    ['false', false, thrownAway],
  ])('are protected and restorable if retain is %s', (_, retained, template) => {
    for (const { Replicas } of properties(template, 'AWS::DynamoDB::GlobalTable', tableShape)) {
      expect(Replicas[0]).toMatchObject({
        DeletionProtectionEnabled: retained,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: retained },
      });
    }
  });
});

describe.each([
  ['of bodies', 'Bodies3FF2AA63'],
  ['of the log of who reads them', 'BodiesAccessLog6543E272'],
])('the bucket %s', (_, id) => {
  it('is private, encrypted, and refuses everything without TLS', () => {
    expect(resources(kept).get(id)?.Properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
    });
    kept.hasResourceProperties('AWS::S3::BucketPolicy', {
      Bucket: { Ref: id },
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        ]),
      },
    });
  });
});

describe('the bucket of bodies', () => {
  const bucketOf = (template: Template, id: string) => resources(template).get(id)?.Properties;

  it('keeps each class of body for its days, and deletes unfinished uploads', () => {
    expect(bucketOf(kept, 'Bodies3FF2AA63')).toHaveProperty('LifecycleConfiguration.Rules', [
      ...bodyLifetimesDays.map((days) => ({
        Id: `${days.toString()}d`,
        Prefix: `${days.toString()}d/`,
        ExpirationInDays: days,
        Status: 'Enabled',
      })),
      {
        Id: 'unfinished-uploads',
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        Status: 'Enabled',
      },
    ]);
  });

  it('has an access log, which only S3 writes, and which is kept for as long as other logs', () => {
    expect(bucketOf(kept, 'Bodies3FF2AA63')).toHaveProperty('LoggingConfiguration.DestinationBucketName', {
      Ref: 'BodiesAccessLog6543E272',
    });
    kept.hasResourceProperties('AWS::S3::BucketPolicy', {
      Bucket: { Ref: 'BodiesAccessLog6543E272' },
      PolicyDocument: {
        Statement: [
          Match.objectLike({ Effect: 'Deny' }),
          Match.objectLike({
            Effect: 'Allow',
            Action: 's3:PutObject',
            Principal: { Service: 'logging.s3.amazonaws.com' },
            Condition: {
              ArnLike: { 'aws:SourceArn': { 'Fn::GetAtt': ['Bodies3FF2AA63', 'Arn'] } },
              StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
            },
          }),
        ],
      },
    });
    const daysOf = (template: Template) =>
      bucketOf(template, 'BodiesAccessLog6543E272')?.['LifecycleConfiguration'];
    expect(daysOf(kept)).toHaveProperty('Rules.0.ExpirationInDays', 30);
    expect(daysOf(synthesizeOne(tuned).state)).toHaveProperty('Rules.0.ExpirationInDays', 7);
    // The number for "for ever".
    expect(daysOf(synthesizeOne(otherValues).state)).toBeUndefined();
  });

  it('has no access log if it is deleted with its stack, because S3 deletes no bucket that has something in it', () => {
    expect(bucketOf(thrownAway, 'Bodies3FF2AA63')).not.toHaveProperty('LoggingConfiguration');
    thrownAway.resourceCountIs('AWS::S3::Bucket', 1);
  });
});

describe('the secrets', () => {
  it('are values that no one ever sees; that of the management API is only in the first region', () => {
    kept.allResourcesProperties('AWS::SecretsManager::Secret', { SecretString: Match.absent() });
    kept.hasResourceProperties('AWS::SecretsManager::Secret', {
      Name: 'Svc/management',
      Description: Match.stringLikeRegexp('without redeploying'),
      ReplicaRegions: Match.absent(),
    });
  });
});

/**
 * How CloudFormation generated the secrets of deployments. Never change these texts: if the property differs in any way,
 * CloudFormation generates another value and overwrites the secret. Another master secret ends the tokens and signing keys of
 * all accounts. To generate a secret differently, add another resource, and an overlap: `svc-queue master-secret`.
 */
const generated = {
  'Svc/master': '{"ExcludePunctuation":true,"PasswordLength":64}',
  'Svc/management':
    '{"ExcludePunctuation":true,"GenerateStringKey":"password","PasswordLength":48,"SecretStringTemplate":"{\\"username\\":\\"admin\\"}"}',
};

it('The secrets are generated exactly as ever: otherwise a deployment would replace their values', () => {
  const secrets = properties(
    kept,
    'AWS::SecretsManager::Secret',
    z.object({ Name: z.string(), GenerateSecretString: z.record(z.string(), z.unknown()) }),
  );
  const found = secrets.map(({ Name, GenerateSecretString }) => [
    Name,
    JSON.stringify(Object.fromEntries(Object.entries(GenerateSecretString).sort())),
  ]);
  expect(Object.fromEntries(found)).toEqual(generated);
});

describe('everything that is kept', () => {
  const lasting = ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::SecretsManager::Secret'];

  it.each([
    ['AWS::DynamoDB::GlobalTable', 'Retain'],
    // Both are deleted after a failed first deployment, which can then be repeated. A table cannot be: DynamoDB protects it
    // from deletion.
    ['AWS::S3::Bucket', 'RetainExceptOnCreate'],
    ['AWS::SecretsManager::Secret', 'RetainExceptOnCreate'],
  ])('%s outlives the stack, unless the settings say otherwise', (type, policy) => {
    for (const [template, policies] of [
      [kept, [policy, 'Retain']],
      [thrownAway, ['Delete', 'Delete']],
    ] as const) {
      const found = [...resources(template, type).values()];
      expect(found).not.toHaveLength(0);
      for (const { DeletionPolicy, UpdateReplacePolicy } of found) {
        expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(policies);
      }
    }
  });

  it('with a fixed name is created first, one after another, so that a taken name leaves no table behind', () => {
    const nameShape = z.string().default('a table');
    const made: string[] = [];
    const waiting = new Map(resources(kept));
    while (waiting.size > 0) {
      const ready = [...waiting].filter(([, { DependsOn }]) => DependsOn.every((id) => !waiting.has(id)));
      for (const [id] of ready) waiting.delete(id);
      made.push(
        ready
          .filter(([, { Type }]) => Type !== 'AWS::S3::BucketPolicy' && Type !== 'AWS::S3::Bucket')
          .map(([, { Properties }]) => nameShape.parse(Properties['TableName'] ?? Properties['Name']))
          .join(),
      );
    }
    expect(made).toEqual([
      'Svc/master',
      'Svc/management',
      'Svc-accounts',
      'Svc-usage',
      Array.from({ length: 7 }, () => 'a table').join(),
    ]);
  });

  it('is in the stack of state, and nothing else is', () => {
    const others = [...resources(kept).values()]
      .map(({ Type }) => Type)
      .filter((type) => !lasting.includes(type));
    expect(others).toEqual(['AWS::S3::BucketPolicy', 'AWS::S3::BucketPolicy']);
    const { service, management } = synthesizeOne();
    for (const type of lasting) {
      service.resourceCountIs(type, 0);
      management.resourceCountIs(type, 0);
    }
  });
});
