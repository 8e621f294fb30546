import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { cdkContext, properties, resources, root, synthesize, synthesizeOne } from './app.ts';

describe('a deployment', () => {
  const { regions, management } = synthesize();

  it('has the same stacks in each region', () => {
    expect(regions.map(({ region }) => region)).toEqual(['eu-central-1', 'us-east-1']);
    const types = (template: Template | undefined) =>
      template === undefined ? [] : [...resources(template).values()].map(({ Type }) => Type);
    const [first, second] = regions;
    expect(types(second?.service)).toEqual(types(first?.service));
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
    for (const policies of [home, other]) expect(policies.match(toQueue)).toHaveLength(2);
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
    const { regions: named } = synthesize({
      regions: 'ap-northeast-1,eu-west-1,us-west-2',
      name: 'Queue',
    });
    expect(named.map(({ region }) => region)).toEqual(['ap-northeast-1', 'eu-west-1', 'us-west-2']);
    named[0]?.state.hasResourceProperties('AWS::SecretsManager::Secret', {
      Name: 'Queue/master',
      ReplicaRegions: [{ Region: 'eu-west-1' }, { Region: 'us-west-2' }],
    });
    named[0]?.state.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      TableName: 'Queue-accounts',
      Replicas: ['eu-west-1', 'us-west-2', 'ap-northeast-1'].map((Region) => Match.objectLike({ Region })),
    });
  });

  it('may be in one region, without replicas', () => {
    const { state } = synthesizeOne();
    state.hasResourceProperties('AWS::DynamoDB::GlobalTable', {
      TableName: 'Svc-accounts',
      Replicas: [Match.objectLike({ Region: 'eu-central-1' })],
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

describe('cdk synth', () => {
  /**
   * Runs the app as the CLI does, without connections and credentials; twice in one process, which takes seconds to import the
   * CDK. It bundles all handlers each time. Assets are named by their bundles' contents, so equal names mean equal bundles.
   *
   * @returns what it made each time
   */
  function runTwice(): readonly Record<string, string>[] {
    const folder = mkdtempSync(join(tmpdir(), 'svc-synth-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    const outputs = ['first', 'second'].map((name) => join(folder, name));
    const program = `
      import net from 'node:net';
      net.Socket.prototype.connect = () => { throw new Error('The app tried to reach the network.'); };
      for (const output of ${JSON.stringify(outputs)}) {
        process.env.CDK_OUTDIR = output;
        await import(${JSON.stringify(pathToFileURL(join(root, 'bin/svc.ts')).href)} + '?' + output);
      }`;
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        CDK_CONTEXT_JSON: JSON.stringify(cdkContext),
        // It makes nothing, and runs where the CLI deploys.
        CDK_VALIDATION: 'false',
        // This tells the app to write its output when it ends.
        CDK_OUTDIR: folder,
      },
    });
    return outputs.map((output) => {
      const made = readdirSync(output).filter((name) => /\.(template|assets)\.json$/.test(name));
      return Object.fromEntries(made.map((name) => [name, readFileSync(join(output, name), 'utf8')]));
    });
  }

  it('needs no network and no credentials, and makes the same output twice', () => {
    const [first = {}, second] = runTwice();
    expect(
      Object.keys(first)
        .filter((name) => name.endsWith('.template.json'))
        .sort(),
    ).toEqual([
      'Svc-Management.template.json',
      'Svc-eu-central-1-Service.template.json',
      'Svc-eu-central-1-State.template.json',
      'Svc-us-east-1-Service.template.json',
      'Svc-us-east-1-State.template.json',
    ]);
    expect(second).toEqual(first);

    // Each handler is one asset of a region, and the two delivery functions share theirs.
    const { files } = z
      .object({ files: z.record(z.string(), z.object({ displayName: z.string() })) })
      .parse(JSON.parse(first['Svc-us-east-1-Service.assets.json'] ?? ''));
    const code = Object.values(files).filter(({ displayName }) => displayName.endsWith('/Code'));
    expect(code).toHaveLength(21);
  });
});
