/** Synthesizes the app in this process, with a comment instead of each bundle. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import * as z from 'zod';
import { outFolder } from '../support/synthFolder.ts';
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
  readonly stacks: Stacks;
  readonly regions: readonly RegionTemplates[];
  readonly management: Template;
}

/** Every setting that adds a resource, in one region, with the delivery functions in the operator's VPC. */
export const everythingOn: Readonly<Record<string, string>> = {
  stage: 'prod',
  regions: 'eu-central-1',
  publishUrl: 'true',
  publishConcurrency: '200',
  tracing: 'true',
  canary: 'true',
  alarmEmails: 'ops@example.com',
  domains: 'eu-central-1=queue.example.com,management=admin.example.com',
  certificates: 'arn:aws:acm:eu-central-1:111122223333:certificate/0a1b2c3d',
  hostedZone: 'Z0123456789ABC',
  vpcs: 'eu-central-1=vpc-0a1b2c3d',
  subnets: 'eu-central-1=subnet-0a1b2c3d,eu-central-1=subnet-0b1b2c3d',
  vpcEndpoints: 'true',
  routeTables: 'eu-central-1=rtb-0a1b2c3d',
  lambdaDestinations: 'arn:aws:lambda:eu-central-1:111122223333:function:orders-*',
  longDelivery: 'instances',
  longEnvironments: '1',
};

/** In addition to {@link everythingOn}: the delivery functions are in a new VPC with fixed addresses. */
export const fixedAddresses: Readonly<Record<string, string>> = {
  vpcs: '',
  subnets: '',
  vpcEndpoints: 'false',
  routeTables: '',
  fixedAddresses: 'eu-central-1=eipalloc-0a1b2c3d,eu-central-1=eipalloc-0b1b2c3d',
  zones: 'eu-central-1=euc1-az2,eu-central-1=euc1-az3',
};

interface MadeApp {
  readonly app: App;
  readonly settings: Settings;
  readonly stacks: Stacks;
}

const synthesized = new Map<string, Templates>();

/**
 * Synthesizes the app once for each context, for all files of this folder.
 *
 * @param context settings, as from the command line or `cdk.json`
 */
export function synthesize(context: Readonly<Record<string, unknown>> = {}): Templates {
  const key = JSON.stringify(Object.entries(context).sort());
  const templates = synthesized.get(key) ?? synthesizeUncached(context);
  synthesized.set(key, templates);
  return templates;
}

/** The app before its synthesis. */
export function makeApp(context: Readonly<Record<string, unknown>>, account?: string): MadeApp {
  const app = new App({ outdir: outFolder(), context: { ...cdkContext, ...context } });
  const settings = readSettings(app);
  const codeOf = (handler: string) => Code.fromInline(`// ${handler}`);
  return { app, settings, stacks: makeStacks(app, { settings, account, codeOf }) };
}

function synthesizeUncached(context: Readonly<Record<string, unknown>>): Templates {
  const { stacks } = makeApp(context);
  const { stateStacks, serviceStacks, managementStacks } = stacks;
  const [management, ...others] = managementStacks;
  if (management === undefined || others.length > 0) throw new Error('There must be one management stack.');
  const regions = stateStacks.flatMap((state, at) => {
    const service = serviceStacks[at];
    return service === undefined
      ? []
      : [
          {
            region: state.region,
            state: Template.fromStack(state),
            service: Template.fromStack(service),
          },
        ];
  });
  return { stacks, regions, management: Template.fromStack(management) };
}

/** The first region of a deployment, for what is the same in each. */
export function synthesizeOne(
  context: Readonly<Record<string, unknown>> = {},
): RegionTemplates & Pick<Templates, 'management'> {
  const { regions, management } = synthesize({ regions: 'eu-central-1', ...context });
  const [first] = regions;
  if (first === undefined) throw new Error('No region was synthesized.');
  return { ...first, management };
}

/** An app's stack of accounts, with one account. */
export function synthesizeAccounts(): Template {
  const { app, settings, stacks } = makeApp({ regions: 'eu-central-1' });
  const [home] = stacks.serviceStacks;
  if (home === undefined) throw new Error('There must be one service stack.');
  const codeOf = (handler: string) => Code.fromInline(`// ${handler}`);
  const env = { region: home.region };
  const accounts = new AccountsStack(app, 'Svc-Accounts', { env, settings, home, codeOf });
  accounts.makeAccount('default', { id: 'an id', fields: {}, url: home.messagingApi.url });
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
