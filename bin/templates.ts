/** Templates that need no bootstrap: they name the code in a bucket of the operator, and have no version of a bootstrap. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { CliCredentialsStackSynthesizer, Tags } from 'aws-cdk-lib';
import { FileAssetPackaging } from 'aws-cdk-lib/cloud-assembly-schema';
import { AssetManifestArtifact } from 'aws-cdk-lib/cx-api';
import { zipSync } from 'fflate';
import { AccountsStack } from '../lib/app/accountsStack.ts';
import { codeOf } from '../lib/functions/code.ts';
import type { CodeOf } from '../lib/functions/function.ts';
import { makeStacks } from '../lib/stacks.ts';
import { OperateError } from '../operate/operateError.ts';
import { openApp } from '../verify/deployment.ts';
import { namesNoRegion } from './commands/app.ts';

export interface AskedTemplates {
  readonly context: Readonly<Record<string, string>>;
  /** May contain `{region}`. */
  readonly bucket: string;
  /** The beginning of keys in the bucket: empty, or with a slash at its end. */
  readonly prefix: string;
  /** The folder. */
  readonly out: string;
  /** Whether to make the stack with the function that makes accounts. */
  readonly accounts: boolean;
}

/** The same folder always makes the same file: times are fixed. All may read the files, because Lambda keeps their modes. */
function zipped(folder: string): Uint8Array {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = files.map(({ parentPath, name }) => relative(folder, join(parentPath, name))).sort();
  const options = { mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100644 << 16 } as const;
  return zipSync(
    Object.fromEntries(paths.map((path) => [path, [readFileSync(join(folder, path)), options]])),
  );
}

/** @throws OperateError for wrong settings, or a bucket that cannot serve all regions */
export function writeTemplates(
  { context, bucket, prefix, out, accounts }: AskedTemplates,
  code: CodeOf = codeOf,
) {
  const outdir = mkdtempSync(join(tmpdir(), 'svc-queue-'));
  try {
    const { app, settings } = openApp(context, {
      outdir,
      defaultStackSynthesizer: new CliCredentialsStackSynthesizer({
        fileAssetsBucketName: bucket.replaceAll('{region}', '${AWS::Region}'),
        bucketPrefix: prefix,
      }),
    });
    const { regions, name } = settings;
    if (app.node.tryGetContext('regions') === undefined) throw new OperateError(namesNoRegion);
    if (regions.length > 1 && !bucket.includes('{region}'))
      throw new OperateError(
        `Lambda reads code from a bucket of its region, and there are ${regions.length} regions. Name a bucket in each: --bucket '${bucket}-{region}'`,
      );
    const [home] = makeStacks(app, { settings, account: undefined, codeOf: code }).serviceStacks;
    if (accounts && home !== undefined) {
      const env = { region: home.region };
      const stack = new AccountsStack(app, `${name}-Accounts`, { env, settings, home, codeOf: code });
      stack.outputFunction();
      Tags.of(stack).add('service', name);
    }
    const { artifacts, stacks } = app.synth();
    mkdirSync(join(out, 'assets'), { recursive: true });
    for (const artifact of artifacts.filter((one) => AssetManifestArtifact.isAssetManifestArtifact(one)))
      for (const { source, destinations } of Object.values(artifact.contents.files ?? {})) {
        const from = join(outdir, source.path ?? '');
        const content =
          source.packaging === FileAssetPackaging.ZIP_DIRECTORY ? zipped(from) : readFileSync(from);
        for (const { objectKey } of Object.values(destinations))
          writeFileSync(join(out, 'assets', basename(objectKey)), content);
      }
    // The stacks are in the order of their deployment, each with the key of its template in the bucket.
    const written = {
      name,
      buckets: Object.fromEntries(regions.map((region) => [region, bucket.replaceAll('{region}', region)])),
      prefix,
      stacks: stacks.map(
        ({ stackName, environment, tags, terminationProtection, stackTemplateAssetObjectUrl = '' }) => ({
          name: stackName,
          region: environment.region,
          template: `${prefix}${basename(stackTemplateAssetObjectUrl)}`,
          tags,
          isProtected: terminationProtection ?? false,
        }),
      ),
    };
    for (const { stackName, templateFullPath } of stacks)
      copyFileSync(templateFullPath, join(out, `${stackName}.template.json`));
    writeFileSync(join(out, 'stacks.json'), `${JSON.stringify(written, undefined, 2)}\n`);
    return written;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
