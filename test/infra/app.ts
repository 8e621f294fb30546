/** Synthesizes the app in this process, with a comment instead of each bundle. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod';
import { outFolder } from '../support/synthFolder.ts';
import { codeOf } from './inlineCode.ts';
import { keptTemplates, type MadeStack } from './keptTemplates.ts';
import { AccountsStack } from '../../lib/app/accountsStack.ts';
import { readSettings, type Settings } from '../../lib/settings.ts';
import { makeStacks, type Stacks } from '../../lib/stacks.ts';

export const root = resolve(import.meta.dirname, '../..');

const cdkJson = z
  .object({ context: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(`${root}/cdk.json`, 'utf8')));

export const cdkContext = cdkJson.context;

export interface RegionTemplates {
  readonly region: string;
  readonly state: Template;
  readonly service: Template;
}

export interface Templates {
  readonly stacks: readonly MadeStack[];
  readonly regions: readonly RegionTemplates[];
  readonly management: Template;
}

interface MadeApp {
  readonly app: App;
  readonly settings: Settings;
  readonly stacks: Stacks;
}

const synthesized = new Map<string, Templates>();

/**
 * Synthesizes the app once for each context and each state of the code, for all files of this folder.
 *
 * @param context settings, as from the command line or `cdk.json`
 */
export function synthesize(context: Readonly<Record<string, unknown>> = {}): Templates {
  const key = JSON.stringify(Object.entries(context).sort());
  const templates = synthesized.get(key) ?? templatesIn(keptTemplates(key, () => stacksOf(context)));
  synthesized.set(key, templates);
  return templates;
}

export const madeStack = (stack: Stack): MadeStack => ({
  name: stack.stackName,
  region: stack.region,
  isProtected: stack.terminationProtection ?? false,
  template: Template.fromStack(stack),
});

/** The app's stacks, synthesized now. */
export function stacksOf(context: Readonly<Record<string, unknown>>, account?: string): MadeStack[] {
  const { stateStacks, serviceStacks, managementStacks } = makeApp(context, account).stacks;
  return [...stateStacks, ...serviceStacks, ...managementStacks].map(madeStack);
}

function templatesIn(stacks: readonly MadeStack[]): Templates {
  const named = (end: string) => stacks.filter(({ name }) => name.endsWith(end));
  const [management, ...others] = named('-Management');
  if (management === undefined || others.length > 0) throw new Error('There must be one management stack.');
  const services = named('-Service');
  const regions = named('-State').flatMap(({ region, template }) =>
    services
      .filter((service) => service.region === region)
      .map((service) => ({ region, state: template, service: service.template })),
  );
  return { stacks, regions, management: management.template };
}

/** The app before its synthesis. */
export function makeApp(context: Readonly<Record<string, unknown>>, account?: string): MadeApp {
  const app = new App({ outdir: outFolder(), context: { ...cdkContext, ...context } });
  const settings = readSettings(app);
  return { app, settings, stacks: makeStacks(app, { settings, account, codeOf }) };
}

/** The first region of a deployment, for what is the same in each. */
export function synthesizeOne(
  context: Readonly<Record<string, unknown>> = {},
): RegionTemplates & Pick<Templates, 'management'> {
  return firstOf(synthesize({ regions: 'eu-central-1', ...context }));
}

/** The first region of several. */
export function firstOf({ regions, management }: Templates): ReturnType<typeof synthesizeOne> {
  const [first] = regions;
  if (first === undefined) throw new Error('No region was synthesized.');
  return { ...first, management };
}

let accountsTemplate: Template | undefined;
/** An app's stack of accounts, with one account. */
export const synthesizeAccounts = (): Template => (accountsTemplate ??= makeAccounts());

function makeAccounts(): Template {
  const { app, settings, stacks } = makeApp({ regions: 'eu-central-1' });
  const [home] = stacks.serviceStacks;
  if (home === undefined) throw new Error('There must be one service stack.');
  const env = { region: home.region };
  const accounts = new AccountsStack(app, 'Svc-Accounts', { env, settings, home, codeOf });
  accounts.makeAccount('default', 'an-id', { fields: {}, url: home.messagingApi.url });
  return Template.fromStack(accounts);
}

const resource = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
  DependsOn: z.array(z.string()).default([]),
});
export type Resource = z.output<typeof resource>;

/** Resources of a type, by logical id; all if no type is given. */
export function resources(template: Template, type?: string): Map<string, Resource> {
  const { Resources } = z.object({ Resources: z.record(z.string(), resource) }).parse(template.toJSON());
  return new Map(Object.entries(Resources).filter(([, { Type }]) => type === undefined || Type === type));
}

/** The properties of a type's resources, in a given shape. */
export function properties<T>(template: Template, type: string, shape: z.ZodType<T>): T[] {
  return [...resources(template, type).values()].map(({ Properties }) => shape.parse(Properties));
}

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::AccountId': '111122223333',
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

/** A text, or a join of texts and pseudo parameters. */
export const joined = z.union([
  z.string(),
  z
    .object({
      'Fn::Join': z.tuple([
        z.literal(''),
        z.array(
          z.union([
            z.string(),
            z.object({ Ref: z.string() }).transform(({ Ref }) => pseudoParameters[Ref] ?? Ref),
          ]),
        ),
      ]),
    })
    .transform((join) => join['Fn::Join'][1].join('')),
]);

/** The logical id of an alias, from its ARN or its name. */
export const aliasReference = z.union([
  z.object({ Ref: z.string() }).transform(({ Ref }) => Ref),
  z
    .object({
      'Fn::Join': z.tuple([
        z.literal(''),
        z.tuple([
          z.object({
            'Fn::Select': z.tuple([
              z.literal(6),
              z.object({ 'Fn::Split': z.tuple([z.literal(':'), z.object({ Ref: z.string() })]) }),
            ]),
          }),
          z.literal(':live'),
        ]),
      ]),
    })
    .transform((join) => join['Fn::Join'][1][0]['Fn::Select'][1]['Fn::Split'][1].Ref),
]);

/** The logical id in a `Ref` or an `Fn::GetAtt`. */
export const reference = z.union([
  z.object({ Ref: z.string() }).transform(({ Ref }) => Ref),
  z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }).transform((get) => get['Fn::GetAtt'][0]),
]);
