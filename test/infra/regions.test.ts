import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Template } from 'aws-cdk-lib/assertions';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { cdkContext, resources, root, synthesize } from './app.ts';

describe('a deployment', () => {
  const regions = synthesize();

  it('has the same stacks in each region', () => {
    expect(regions.map(({ region }) => region)).toEqual(['eu-central-1', 'us-east-1']);
    const types = (template: Template | undefined) =>
      template === undefined ? [] : [...resources(template).values()].map(({ Type }) => Type);
    const [first, second] = regions;
    expect(types(second?.service)).toEqual(types(first?.service));
    const replicated = types(first?.state).filter((type) => !type.includes('Secret'));
    expect(types(second?.state)).toEqual(replicated);
  });

  it('has one master secret, made in its first region and copied to the others', () => {
    const [first, second] = regions;
    first?.state.hasResourceProperties('AWS::SecretsManager::Secret', {
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

  it('goes to the regions that its settings name', () => {
    const named = synthesize({ regions: 'ap-northeast-1,eu-west-1,us-west-2', name: 'Queue' });
    expect(named.map(({ region }) => region)).toEqual(['ap-northeast-1', 'eu-west-1', 'us-west-2']);
    named[0]?.state.hasResourceProperties('AWS::SecretsManager::Secret', {
      Name: 'Queue/master',
      ReplicaRegions: [{ Region: 'eu-west-1' }, { Region: 'us-west-2' }],
    });
  });
});

describe('cdk synth', () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  /** Runs the app as the CLI does, where every connection fails and no credentials are, and returns what it made. */
  function run(): Record<string, string> {
    const folder = mkdtempSync(join(tmpdir(), 'svc-synth-'));
    folders.push(folder);
    const offline = `import net from 'node:net';
      net.Socket.prototype.connect = () => { throw new Error('The app tried to reach the network.'); };`;
    execFileSync(
      process.execPath,
      ['--import', 'tsx', '--import', `data:text/javascript,${encodeURIComponent(offline)}`, 'bin/svc.ts'],
      {
        cwd: root,
        stdio: ['ignore', 'ignore', 'inherit'],
        env: {
          PATH: process.env['PATH'],
          HOME: folder,
          CDK_OUTDIR: join(folder, 'out'),
          CDK_CONTEXT_JSON: JSON.stringify(cdkContext),
        },
      },
    );
    const out = join(folder, 'out');
    const made = readdirSync(out).filter((name) => /\.(template|assets)\.json$/.test(name));
    return Object.fromEntries(made.map((name) => [name, readFileSync(join(out, name), 'utf8')]));
  }

  it('needs no network and no credentials, and makes the same twice', () => {
    const first = run();
    expect(
      Object.keys(first)
        .filter((name) => name.endsWith('.template.json'))
        .sort(),
    ).toEqual([
      'Svc-eu-central-1-Service.template.json',
      'Svc-eu-central-1-State.template.json',
      'Svc-us-east-1-Service.template.json',
      'Svc-us-east-1-State.template.json',
    ]);
    expect(run()).toEqual(first);

    // Each handler is one asset of a region, and the two delivery functions share theirs.
    const { files } = z
      .object({ files: z.record(z.string(), z.object({ displayName: z.string() })) })
      .parse(JSON.parse(first['Svc-us-east-1-Service.assets.json'] ?? ''));
    const code = Object.values(files).filter(({ displayName }) => displayName.endsWith('/Code'));
    expect(code).toHaveLength(11);
  });
});
