import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { bundle } from '../../lib/bundle.ts';
import { cdkContext, properties, resources, root, synthesize, synthesizeOne } from './app.ts';
import { elsewhere } from './variants.ts';

describe('a deployment', () => {
  const { regions, management } = synthesize();

  it('has the same stacks in each region', () => {
    expect(regions.map(({ region }) => region)).toEqual(['eu-central-1', 'us-east-1']);
    const types = (template: Template | undefined) =>
      template === undefined ? [] : [...resources(template).values()].map(({ Type }) => Type);
    const [first, second] = regions;
    // The first region has the dashboard of all regions.
    expect(types(second?.service)).toEqual(
      types(first?.service).filter((type) => type !== 'AWS::CloudWatch::Dashboard'),
    );
    const shared = [
      'AWS::DynamoDB::GlobalTable',
      'AWS::SecretsManager::Secret',
      'AWS::SecretsManager::Secret',
    ];
    expect(types(first?.state).sort()).toEqual([...types(second?.state), ...shared].sort());
  });

  it('has one table of accounts, created in its first region, with a replica in each of the others', () => {
    const [first, second] = regions;
    first?.state.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      TableName: 'Svc-accounts',
      Replicas: ['us-east-1', 'eu-central-1'].map((Region) => ({
        Region,
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      })),
      // Replicas follow the stream.
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
    second?.state.resourcePropertiesCountIs('AWS::DynamoDB::GlobalTable', { TableName: 'Svc-accounts' }, 0);
    for (const { service } of regions) {
      service.allResourcesProperties('AWS::Lambda::Function', {
        Environment: { Variables: { ACCOUNTS_TABLE: 'Svc-accounts', USAGE_TABLE: 'Svc-usage' } },
      });
    }
  });

  it('has a table of usage with the same name in each region, each with separate rows', () => {
    for (const { state, region } of regions) {
      state.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
        TableName: 'Svc-usage',
        Replicas: [Match.objectLike({ Region: region })],
      });
    }
  });

  it('has its management API only in the first region', () => {
    const handlers = (template: Template) =>
      properties(
        template,
        'AWS::Lambda::Function',
        z.object({ Code: z.object({ ZipFile: z.string() }) }),
      ).map(({ Code }) => Code.ZipFile);
    expect(handlers(management).sort()).toEqual(['// accounts', '// console', '// managementAuthorizer']);
    for (const { service } of regions) expect(handlers(service)).not.toContain('// accounts');
    expect(JSON.stringify(management.findOutputs('ManagementUrl'))).toContain('.execute-api.eu-central-1.');
    management.hasOutput('ManagementSecret', { Value: 'Svc/management' });
  });

  it('refers from a region to another by name, to report changes of accounts and to read which hosts it noted, and for nothing else', () => {
    const toQueue = /:sqs:[a-z0-9-]+:",{"Ref":"AWS::AccountId"},":Svc-account-changes"/g;
    const [home = '', other = ''] = regions.map(({ service }) =>
      JSON.stringify(properties(service, 'AWS::IAM::Policy', z.unknown())),
    );
    for (const policies of [home, other]) expect(policies.match(toQueue)).toHaveLength(4);
    // Keys of rows that are in every region's replica.
    const ofHosts = /"apiHost#[^"]+"/g;
    const rest = (policies: string): string => policies.replaceAll(toQueue, '').replaceAll(ofHosts, '');
    expect(rest(home)).not.toContain('us-east-1');
    expect(rest(other)).not.toContain('eu-central-1');
    expect(JSON.stringify(properties(management, 'AWS::IAM::Policy', z.unknown()))).toContain('us-east-1');
  });

  it('has one master secret, created in its first region and copied to the others', () => {
    const [first, second] = regions;
    first?.state.hasResourceProperties('AWS::SecretsManager::Secret', {
      Name: 'Svc/master',
      ReplicaRegions: [{ Region: 'us-east-1' }],
    });
    second?.state.resourceCountIs('AWS::SecretsManager::Secret', 0);
    for (const { service, region } of regions) {
      expect(JSON.stringify(service.toJSON())).toContain(`:secretsmanager:${region}:`);
      service.allResourcesProperties('AWS::Lambda::Function', {
        Environment: { Variables: { MASTER_SECRET_ID: 'Svc/master' } },
      });
    }
  });

  it('is in the regions that its settings name', () => {
    const { regions: named } = synthesize(elsewhere);
    expect(named.map(({ region }) => region)).toEqual(['eu-central-1', 'us-west-2']);
    named[0]?.state.hasResourceProperties('AWS::SecretsManager::Secret', {
      Name: 'Queue/master',
      ReplicaRegions: [{ Region: 'us-west-2' }],
    });
    named[0]?.state.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      TableName: 'Queue-accounts',
      Replicas: ['us-west-2', 'eu-central-1'].map((Region) => Match.objectLike({ Region })),
    });
  });

  it('gets a second region, and gives it up, with one replica more or less: nothing else of the accounts changes', () => {
    const accountsIn = (state: Template | undefined) => {
      const found = state === undefined ? [] : [...resources(state, 'AWS::DynamoDB::GlobalTable').values()];
      const { Replicas, ...others } =
        found.find(({ Properties }) => Properties['TableName'] === 'Svc-accounts')?.Properties ?? {};
      return { replicas: z.array(z.object({ Region: z.string() })).parse(Replicas), others };
    };
    const one = accountsIn(synthesizeOne().state);
    const two = accountsIn(regions[0]?.state);
    // CloudFormation changes the stream only of a table with one replica, and only one replica per update, with nothing else.
    expect(two.others).toEqual(one.others);
    expect(one.replicas.map(({ Region }) => Region)).toEqual(['eu-central-1']);
    expect(two.replicas.map(({ Region }) => Region)).toEqual(['us-east-1', 'eu-central-1']);
  });
});

const assetsShape = z.object({
  files: z.record(z.string(), z.object({ displayName: z.string(), source: z.object({ path: z.string() }) })),
});

describe('cdk synth', () => {
  it('needs no network and no credentials, and bundles each handler as any other process does', () => {
    const output = mkdtempSync(join(tmpdir(), 'svc-synth-'));
    onTestFinished(() => {
      rmSync(output, { recursive: true });
    });
    const program = `
      import net from 'node:net';
      net.Socket.prototype.connect = () => { throw new Error('The app tried to reach the network.'); };
      await import(${JSON.stringify(pathToFileURL(join(root, 'bin/svc.ts')).href)});`;
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        HOME: output,
        CDK_CONTEXT_JSON: JSON.stringify(cdkContext),
        CDK_VALIDATION: 'false',
        // This tells the app to write its output when it ends.
        CDK_OUTDIR: output,
      },
    });
    expect(readdirSync(output).filter((name) => name.endsWith('.template.json'))).toEqual([
      'Svc-Management.template.json',
      'Svc-eu-central-1-Service.template.json',
      'Svc-eu-central-1-State.template.json',
      'Svc-us-east-1-Service.template.json',
      'Svc-us-east-1-State.template.json',
    ]);

    // Each handler is one asset of a region, and the delivery functions share theirs.
    const { files } = assetsShape.parse(
      JSON.parse(readFileSync(join(output, 'Svc-us-east-1-Service.assets.json'), 'utf8')),
    );
    const code = Object.values(files).filter(({ displayName }) => displayName.endsWith('/Code'));
    expect(code).toHaveLength(21);
    const publish = code.find(({ displayName }) => displayName.endsWith('Publish/Code'));
    const filesIn = (folder: string) =>
      readdirSync(folder)
        .sort()
        .map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
    expect(filesIn(join(output, publish?.source.path ?? ''))).toEqual(filesIn(bundle('publish')));
  });
});
