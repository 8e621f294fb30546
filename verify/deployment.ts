/** A deployment's settings, and its templates from `cdk synth`. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { App, type AppProps } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import * as z from 'zod';
import { templateResource, type TemplateResource } from './prices/resources.ts';
import { OperateError } from '../operate/operateError.ts';
import { largestEnvironment } from '../lib/functions/environmentSize.ts';
import { readSettings, type Settings, SettingsError } from '../lib/settings.ts';
import { makeStacks } from '../lib/stacks.ts';

const cdkJson = z.object({ context: z.record(z.string(), z.unknown()).default({}) });

const template = z.object({
  Resources: z.record(z.string(), templateResource),
  Metadata: z
    .object({ [largestEnvironment]: z.object({ name: z.string(), bytes: z.number() }).optional() })
    .default({}),
});

export interface StackTemplate {
  readonly name: string;
  readonly region: string;
  /** By logical id. */
  readonly resources: Readonly<Record<string, TemplateResource>>;
  /** The function with the most variables, and their bytes. */
  readonly largestEnvironment: { readonly name: string; readonly bytes: number } | undefined;
  /** JSON, as the CLI sends it. */
  readonly text: string;
}

export interface Deployment {
  readonly settings: Settings;
  readonly stacks: readonly StackTemplate[];
  /** The qualifier of `cdk bootstrap`. */
  readonly qualifier: string;
}

export function readTemplate(name: string, region: string, json: unknown): StackTemplate {
  const { Resources: resources, Metadata } = template.parse(json);
  const text = JSON.stringify(json);
  return { name, region, resources, largestEnvironment: Metadata[largestEnvironment], text };
}

/**
 * Opens an app for synthesis in this process.
 *
 * @param context settings that override `cdk.json` in the current folder, if it exists
 * @throws OperateError if settings are wrong
 */
export function openApp(
  context: Readonly<Record<string, string>>,
  props: AppProps = {},
): { readonly app: App; readonly settings: Settings } {
  // For `svc-queue deploy`, the CDK's CLI reads the same file.
  const file = resolve('cdk.json');
  const inFile = cdkJson.parse(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
  const app = new App({ ...props, context: { ...inFile.context, ...context }, analyticsReporting: false });
  return { app, settings: settingsOf(app) };
}

/** Synthesizes the app without the functions' bundles. See {@link openApp}. */
export function readDeployment(context: Readonly<Record<string, string>>): Deployment {
  const { app, settings } = openApp(context);
  const codeOf = (handler: string) => Code.fromInline(`// ${handler}`);
  makeStacks(app, { settings, account: undefined, codeOf });
  const stacks = app
    .synth()
    .stacks.map(({ stackName, environment, template: json }) =>
      readTemplate(stackName, environment.region, json),
    );
  const qualifier = z.string().default('hnb659fds');
  return {
    settings,
    stacks,
    qualifier: qualifier.parse(app.node.tryGetContext('@aws-cdk/core:bootstrapQualifier')),
  };
}

function settingsOf(app: App): Settings {
  try {
    return readSettings(app);
  } catch (error) {
    if (error instanceof SettingsError) throw new OperateError(error.message);
    throw error;
  }
}
