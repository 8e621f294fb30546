/**
 * Checks the app with cdk-nag's rules of AWS Solutions, for serverless apps, and of NIST 800-53 r5. Findings are fixed, or
 * accepted where they are made.
 */
import { App, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { AwsSolutionsChecks, NIST80053R5Checks, ServerlessChecks } from 'cdk-nag';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { SvcQueue } from '../../lib/svcQueue.ts';
import { makeApp } from './app.ts';
import { everythingOn, instances, oneRegion, withAddresses } from './variants.ts';
import { outFolder } from '../support/synthFolder.ts';

const packsOf = (app: IConstruct) => [
  new AwsSolutionsChecks(app),
  new ServerlessChecks(app),
  new NIST80053R5Checks(app),
];

const findingsIn = (app: IConstruct) =>
  packsOf(app)
    .flatMap((pack) => pack.validateScope(app).violations)
    .flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath = '' }) => ({ rule: ruleName, path: constructPath })),
    );

const acknowledgedRules = z.record(z.string(), z.string());

/** Everything that is accepted: the rule, and where. */
const acceptedIn = (app: IConstruct) =>
  app.node.findAll().flatMap((construct) =>
    construct.node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) => Object.entries(acknowledgedRules.parse(data)))
      // The CDK prefixes the origin of a rule.
      .map(([rule]) => ({ rule: rule.replace(/^annotation::/i, ''), path: construct.node.path })),
  );

/** Makes the service's app with settings. */
const withSettings = (context: Readonly<Record<string, unknown>>, account?: string) => (): App =>
  makeApp(context, account).app;

/** Makes a customer's app with everything that `SvcQueue` offers. */
function inAnApp(): App {
  const app = new App({ outdir: outFolder() });
  const queue = new SvcQueue(app, 'Queue', { regions: ['eu-central-1'] });
  queue.account('shop');
  queue.schedule('daily', { cron: '0 6 * * *', destination: 'https://example.com/' });
  queue.urlGroup('orders', { endpoints: [{ url: 'https://example.com/' }] });
  return app;
}

const variants: readonly [title: string, make: () => App][] = [
  ['the default settings', withSettings({})],
  ['everything on, in a VPC of the operator', withSettings(everythingOn, '111122223333')],
  ['everything on, with fixed addresses', withSettings(withAddresses, '111122223333')],
  [
    'every setting that makes or leaves out a resource, in a known account',
    withSettings(
      {
        stage: 'dev',
        regions: 'us-east-1',
        publishUrl: 'true',
        publishConcurrency: '200',
        scheduleGroup: 'default',
        gatewayLogRole: 'false',
      },
      '111122223333',
    ),
  ],
  ['managed instances in a VPC of their own', withSettings({ ...oneRegion, ...instances })],
  ['an app of somebody else', inAnApp],
];

describe.each(variants)('cdk-nag with %s', (_, make) => {
  // Acceptances are collected until cdk-nag has shown all findings.
  const accept = vi.spyOn(Validations.prototype, 'acknowledge').mockReturnValue();
  const app = make();
  const accepts = accept.mock.calls.map((rules, at) => ({ rules, of: accept.mock.contexts[at] }));
  accept.mockRestore();
  // References between stacks are complete only after the synthesis.
  app.synth();
  const found = findingsIn(app);
  for (const { rules, of } of accepts) if (of instanceof Validations) of.acknowledge(...rules);
  const accepted = acceptedIn(app).map((one) => ({
    text: `${one.rule} at ${one.path}`,
    covered: found.filter(({ rule, path }) => rule === one.rule && `${path}/`.startsWith(`${one.path}/`)),
  }));

  it('finds nothing that is not accepted', () => {
    expect(found.length).toBeGreaterThan(30);
    const covered = new Set(accepted.flatMap((one) => one.covered));
    const others = found.filter((one) => !covered.has(one)).map(({ rule, path }) => `${rule} at ${path}`);
    expect(others, 'Put it right, or accept it with a reason.').toEqual([]);
  });

  it('finds exactly one thing for each that is accepted', () => {
    const wrong = accepted.filter(({ covered }) => covered.length !== 1).map(({ text }) => text);
    expect(wrong, 'Name the resources one by one, and accept nothing that is not found.').toEqual([]);
  });
});

it('cdk-nag accepts the app as a plugin of the synthesis, as an organisation would add it', () => {
  const { app } = makeApp({ regions: 'eu-central-1' });
  Validations.of(app).addPlugins(...packsOf(app));
  expect(() => app.synth()).not.toThrow();
});
