import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { writeTemplates } from '../../bin/templates.ts';
import { AccountsStack } from '../../lib/app/accountsStack.ts';
import { readSettings } from '../../lib/settings.ts';
import { makeStacks } from '../../lib/stacks.ts';
import { outFolder } from '../support/synthFolder.ts';
import { cdkContext } from './app.ts';
import { elsewhere, otherCertificates } from './variants.ts';

/** Assets instead of code in the template: a file for each function. */
function codeOf(handler: string): Code {
  const folder = join(code, handler);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.mjs'), `// ${handler}`);
  return Code.fromAsset(folder);
}
const code = outFolder();

const template = z.looseObject({ Parameters: z.unknown().optional(), Rules: z.unknown().optional() });
const readJson = (...path: readonly string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'));

interface Place {
  readonly S3Bucket: unknown;
  readonly S3Key: string;
}
const isPlace = (value: object): value is Place => 'S3Bucket' in value && 'S3Key' in value;

/** A template without its bootstrap and the places of its assets, and these places. */
function apart(json: unknown) {
  const { Parameters, Rules, ...others } = template.parse(json);
  const places: Place[] = [];
  const text = JSON.stringify(others, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !isPlace(value)) return value;
    places.push(value);
    return { S3Key: value.S3Key.replace(/^.*\//, '') };
  });
  // A version of a function is named by its definition, of which the place is a part.
  const unversioned = text.replaceAll(/(?<=CurrentVersion\w{8})[0-9a-f]{32}|(?<=:")[0-9a-f]{16}(?=")/g, '');
  return { Parameters, Rules, places, text: unversioned };
}

describe.each([
  ['one region, with a layer and all resources', otherCertificates, false],
  ['two regions, and of accounts', elsewhere, true],
])('the templates of %s', (_name, context, accounts) => {
  const out = outFolder();
  const asked = { context, bucket: 'acme-{region}', prefix: 'queue/code/', out, accounts };
  const written = writeTemplates(asked, codeOf);
  const stacks = written.stacks.map((stack) => ({
    ...stack,
    ...apart(readJson(out, `${stack.name}.template.json`)),
  }));

  it('are those of the CDK app, apart from the bootstrap and the places of assets', () => {
    const app = new App({ outdir: outFolder(), context: { ...cdkContext, ...context } });
    const settings = readSettings(app);
    const { serviceStacks } = makeStacks(app, { settings, account: undefined, codeOf });
    for (const home of accounts ? serviceStacks.slice(0, 1) : []) {
      const env = { region: home.region };
      new AccountsStack(app, `${settings.name}-Accounts`, { env, settings, home, codeOf });
    }
    for (const { stackName, template: ofApp } of app
      .synth()
      .stacks.filter((one) => !one.stackName.endsWith('-Accounts')))
      expect(stacks.find(({ name }) => name === stackName)?.text).toBe(apart(ofApp).text);
  });

  it('need no bootstrap', () => {
    for (const { Parameters, Rules, text } of stacks) {
      expect({ Parameters, Rules }).toEqual({});
      expect(text).not.toMatch(/cdk-bootstrap|cdk-hnb659fds|BootstrapVersion/);
    }
  });

  it('name only files of the folder, in a bucket of their region', () => {
    const files = readdirSync(join(out, 'assets')).map((file) => `queue/code/${file}`);
    for (const { region, template: key, places } of stacks) {
      expect(new Set(places.map(({ S3Bucket }) => S3Bucket)).size).toBeLessThanOrEqual(1);
      for (const { S3Bucket } of places) expect(S3Bucket).toBe(`acme-${region}`);
      expect(files).toEqual(expect.arrayContaining([key, ...places.map(({ S3Key }) => S3Key)]));
    }
    expect(stacks.flatMap(({ places }) => places).length).toBeGreaterThan(20);
  });

  it('are the same when they are written again, zip files too', () => {
    const again = outFolder();
    writeTemplates({ ...asked, out: again }, codeOf);
    const contents = (folder: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.includes('.'))
        .map((file) => [file, readFileSync(join(folder, file)).toString('base64')]);
    expect(contents(again)).toEqual(contents(out));
  });

  it('are listed after those that they import from', () => {
    const exported = new Set<string>();
    for (const { text } of stacks) {
      for (const [, name = ''] of text.matchAll(/"Fn::ImportValue":"([^"]+)"/g))
        expect([...exported]).toContain(name);
      for (const [, name = ''] of text.matchAll(/"Export":\{"Name":"([^"]+)"/g)) exported.add(name);
    }
    expect(exported.size).toBeGreaterThan(10);
  });
});

it('refuses a bucket for several regions, and a deployment without regions', () => {
  const asked = { bucket: 'acme', prefix: '', out: outFolder(), accounts: false };
  expect(() => writeTemplates({ ...asked, context: elsewhere }, codeOf)).toThrow(
    /--bucket 'acme-\{region\}'$/,
  );
  expect(() => writeTemplates({ ...asked, context: {} }, codeOf)).toThrow(/^Name the regions/);
});
