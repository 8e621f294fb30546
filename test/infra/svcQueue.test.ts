/** `SvcQueue` in another app. */
import { App, CfnOutput, Stack, Stage } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { SvcQueue, type SvcQueueProps } from '../../lib/index.ts';
import { readSettings, type Settings } from '../../lib/settings.ts';
import { cdkContext, properties, resources } from './app.ts';
import * as z from 'zod';
import { outFolder } from '../support/synthFolder.ts';

const region = 'eu-central-1';

/** Flags that differ from this project's app. */
const otherFlags = { '@aws-cdk/core:defaultCrossStackReferences': 'strong' };

/** An app with its own flags and stack. */
function newApp(props: SvcQueueProps = {}) {
  const app = new App({ outdir: outFolder(), context: otherFlags });
  const queue = new SvcQueue(app, 'Queue', { regions: [region], ...props });
  const stack = new Stack(app, 'Shop', { env: { region } });
  new CfnOutput(stack, 'Url', { value: queue.url });
  const fn = (at: Stack = stack) =>
    new LambdaFunction(at, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline('//'),
    });
  const stackOf = (name: string): Stack => {
    const found = app.node.tryFindChild(name);
    if (!(found instanceof Stack)) throw new Error(`There is no stack ${name}.`);
    return found;
  };
  const namesOfStacks = () =>
    app.node.children.flatMap((child) => (child instanceof Stack ? [child.stackName] : []));
  return { app, queue, stack, fn, stackOf, namesOfStacks };
}

const variables = (stack: Stack) =>
  properties(
    Template.fromStack(stack),
    'AWS::Lambda::Function',
    z.object({ Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }) }),
  ).map(({ Environment }) => Environment.Variables);

describe('the props', () => {
  it('are the settings', () => {
    expectTypeOf<Exclude<keyof SvcQueueProps, 'awsAccount'>>().toEqualTypeOf<keyof Settings>();
    expectTypeOf<Settings>().toExtend<SvcQueueProps>();
    expect(readSettings(new App({ context: cdkContext })).name).toBe('Svc');
  });

  it.each<[string, object, RegExp]>([
    [
      'a value that is not allowed',
      { deliveryConcurrency: 1 },
      /^The props of SvcQueue are not right:\n- deliveryConc/,
    ],
    ['a name that is none', { region }, /- region: there is no such prop\nProps are: stage, name,/],
    [
      'props that contradict each other',
      { alarmEmails: ['a@example.com'], monitoring: false },
      /monitoring is off/,
    ],
  ])('are refused with a sentence: %s', (_, props, sentence) => {
    expect(() => new SvcQueue(new App(), 'Queue', props)).toThrow(sentence);
  });

  it('count as absent if they are undefined', () => {
    const { stackOf } = newApp({ stage: 'dev', logLevel: undefined });
    expect(variables(stackOf(`SvcDev-${region}-Service`))[0]).toMatchObject({
      POWERTOOLS_LOG_LEVEL: 'DEBUG',
    });
  });
});

describe('the stacks', () => {
  it('are separate from those of the app, with the same names in a Stage', () => {
    expect(newApp().namesOfStacks()).toEqual([
      `Svc-${region}-State`,
      `Svc-${region}-Service`,
      'Svc-Management',
      'Shop',
    ]);
    const stage = new Stage(new App(), 'Prod', { env: { account: '111122223333' } });
    new SvcQueue(stage, 'Queue', { regions: ['us-east-1'] });
    const stacks = stage.node.children.flatMap((child) => (child instanceof Stack ? [child] : []));
    expect(stacks.map(({ stackName, account }) => `${stackName} ${account}`)).toEqual([
      'Svc-us-east-1-State 111122223333',
      'Svc-us-east-1-Service 111122223333',
      'Svc-Management 111122223333',
    ]);
  });

  it('are the same with any flags of the app, and leave its tags unchanged', () => {
    const ours = new App({ outdir: outFolder(), context: cdkContext });
    new SvcQueue(ours, 'Queue', { regions: [region] });
    // Nothing in it refers to the service: an export would add a line to the template.
    const others = new App({ outdir: outFolder(), context: otherFlags });
    const stack = new Stack(others, 'Shop');
    new SvcQueue(others, 'Queue', { regions: [region] });
    const templateOf = (app: App, name: string): unknown => {
      const found = app.node.findChild(name);
      if (!(found instanceof Stack)) throw new Error(`${name} is no stack.`);
      return Template.fromStack(found).toJSON();
    };
    for (const name of [`Svc-${region}-State`, `Svc-${region}-Service`, 'Svc-Management'])
      expect(templateOf(others, name)).toEqual(templateOf(ours, name));
    expect(stack.tags.tagValues()).toEqual({});
  });
});

describe('an account', () => {
  const { queue, stack, fn, stackOf } = newApp({ publishUrl: true });
  const account = queue.account('default', { limits: { max_retries: 7 }, rotation: '2' });
  const publisher = fn();
  account.grantPublish(publisher);
  account.grantRead(publisher);
  const accounts = () => stackOf('Svc-Accounts');

  it('is a resource with an id that follows from its name, and a secret', () => {
    const template = Template.fromStack(accounts());
    template.resourceCountIs('AWS::SecretsManager::Secret', 1);
    const [input = ''] = properties(
      template,
      'Custom::SvcAccount',
      z.object({ Input: z.unknown(), ServiceTimeout: z.string() }),
    ).map(({ Input }) => JSON.stringify(Input));
    expect(input).toContain(account.accountId);
    expect(input).toContain(
      String.raw`\"fields\":{\"type\":\"paid\",\"customer_id\":\"default\",\"max_retries\":7}`,
    );
    expect(account.accountId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('has logical ids that stay the same', () => {
    const ids = [...resources(Template.fromStack(accounts())).keys()];
    expect(ids).toEqual(expect.arrayContaining(['defaultSecretA2B24F7F', 'defaultAccount7DBA15D4']));
  });

  it('gives a function what the clients read, and no template or output a value of it', () => {
    const [given = {}] = variables(stack);
    expect(Object.keys(given).sort()).toEqual([
      'QSTASH_CURRENT_SIGNING_KEY',
      'QSTASH_NEXT_SIGNING_KEY',
      'QSTASH_TOKEN',
      'QSTASH_URL',
      'SVC_ROTATION',
    ]);
    const { 'Fn::Join': joined } = z
      .object({
        'Fn::Join': z.tuple([z.literal(''), z.array(z.union([z.string(), z.object({ Ref: z.string() })]))]),
      })
      .parse(given['QSTASH_TOKEN']);
    const [before, reference, after] = joined[1];
    expect([before, after]).toEqual(['{{resolve:secretsmanager:', ':SecretString:QSTASH_TOKEN::}}']);
    const parameters = Template.fromStack(stack).findParameters('*', {
      Type: 'AWS::SSM::Parameter::Value<String>',
      Default: `/Svc/accounts/${account.accountId}/secret`,
    });
    expect(Object.keys(parameters)).toEqual([typeof reference === 'object' && reference.Ref]);
    Template.fromStack(accounts()).hasResourceProperties('AWS::SSM::Parameter', {
      Name: `/Svc/accounts/${account.accountId}/secret`,
      Value: { Ref: 'defaultSecretA2B24F7F' },
    });
    expect(stack.dependencies).toContain(accounts());
    expect(JSON.stringify(Template.fromStack(accounts()).findOutputs('*'))).not.toContain('resolve');
  });

  it('lets a function read its secret', () => {
    Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'] }),
        ]),
      },
    });
  });

  it('is for functions in its region and AWS account', () => {
    const { app, queue, fn } = newApp();
    const own = queue.account('default');
    const elsewhere = fn(new Stack(app, 'Elsewhere', { env: { region: 'us-east-1' } }));
    expect(() => {
      own.grantPublish(elsewhere);
    }).toThrow(
      /^Elsewhere\/Function is in any\/us-east-1, but the secret of default is in any\/eu-central-1\./,
    );
  });

  it('has limits in their ranges', () => {
    expect(() => queue.account('other', { limits: { max_retries: 101 } })).toThrow(
      /account 'other' are not right:\n- limits.max_retries: allowed is a whole number from 0 to 100; given is 101/,
    );
    // The allowed timeout is known when the app is deployed: without instances, the deployment refuses this
    // value.
    expect(() => newApp().queue.account('default', { limits: { timeout: 5_280 } })).not.toThrow();
    expect(() => queue.account('other', { limits: { timeout: 5_281 } })).toThrow(
      /limits.timeout: allowed is a whole number from 1 to 5280; given is 5281/,
    );
  });

  it('has a failure callback and functions for destinations, which may be from another stack', () => {
    const { app, queue, stackOf } = newApp();
    const { functionArn } = new LambdaFunction(new Stack(app, 'Workers', { env: { region } }), 'Function', {
      runtime: Runtime.NODEJS_24_X,
      handler: 'index.handler',
      code: Code.fromInline('//'),
    });
    queue.account('default', {
      failOn: '400-499',
      failureCallback: 'https://example.com/failed',
      destinations: ['arn:aws:sqs:*:123456789012:orders-*'],
      lambdaDestinations: ['arn:aws:lambda:*:123456789012:function:orders-*', functionArn],
      tlsIdentities: [{ host: 'hooks.example.com', identity: 'acme' }],
    });
    const [input = ''] = properties(
      Template.fromStack(stackOf('Svc-Accounts')),
      'Custom::SvcAccount',
      z.object({ Input: z.unknown() }),
    ).map(({ Input }) => JSON.stringify(Input));
    expect(input).toContain(String.raw`\"fail_on\":\"400-499\"`);
    expect(input).toContain(String.raw`\"failure_callback\":\"https://example.com/failed\"`);
    expect(input).toContain(String.raw`\"destinations\":[\"arn:aws:sqs:*:123456789012:orders-*\"]`);
    expect(input).toContain(
      String.raw`\"lambda_destinations\":[\"arn:aws:lambda:*:123456789012:function:orders-*\",\"`,
    );
    expect(input).toContain(
      String.raw`\"tls_identities\":[{\"host\":\"hooks.example.com\",\"identity\":\"acme\"}]`,
    );
    expect(stackOf('Svc-Accounts').dependencies.map(({ node }) => node.id)).toContain('Workers');
  });

  it('refuses an invalid ARN', () => {
    expect(() => queue.account('other', { failOn: '200' })).toThrow(
      /- failOn: must be up to 20 statuses from 300 to 599 .*; given is 200/,
    );
    const make = () => queue.account('other', { lambdaDestinations: ['arn:aws:s3:::orders'] });
    expect(make).toThrow(
      /- lambdaDestinations\[0\]: must be the ARN of a Lambda function, .*; given is arn:aws:s3:::orders/,
    );
    expect(() => queue.account('other', { destinations: ['arn:aws:s3:::orders'] })).toThrow(
      /- destinations\[0\]: must be the ARN of an SQS queue, .*; given is arn:aws:s3:::orders/,
    );
  });

  it.each([
    [{ host: 'hooks.example.com' }],
    [{ host: 'https://hooks.example.com', ca: 'private' }],
    [{ host: '*', ca: 'a/b' }],
    [
      { host: '*', ca: 'a' },
      { host: '*', ca: 'b' },
    ],
  ])('refuses wrong TLS identities', (...tlsIdentities) => {
    expect(() => queue.account('other', { tlsIdentities })).toThrow(
      /- tlsIdentities: must be a list of up to 50 of .*; given is \[/,
    );
  });
});

describe('schedules and URL groups', () => {
  it('may name what the app makes, which itself needs the account', () => {
    const { app, queue, stack, fn, stackOf } = newApp();
    const account = queue.account('default');
    const own = fn();
    account.grantPublish(own);
    const { url } = own.addFunctionUrl();
    queue.schedule('daily', {
      cron: '0 9 * * *',
      destination: url,
      body: 'morning',
      headers: { 'X-Tenant': 'a' },
      options: { Retries: '2' },
    });
    queue.urlGroup('orders', { endpoints: [{ url }, { url: 'https://example.com', name: 'other' }] });
    app.synth();
    expect(
      stackOf('Svc-Contents')
        .dependencies.map(({ node }) => node.id)
        .sort(),
    ).toEqual(['Shop', 'Svc-Accounts']);
    expect(stack.dependencies.map(({ node }) => node.id)).toContain('Svc-Accounts');
    const template = Template.fromStack(stackOf('Svc-Contents'));
    const [schedule = ''] = properties(template, 'Custom::SvcSchedule', z.object({ Input: z.unknown() })).map(
      ({ Input }) => JSON.stringify(Input),
    );
    for (const part of ['Svc-Cron', 'Svc-Retries', 'Svc-Forward-X-Tenant', 'morning', account.accountId])
      expect(schedule).toContain(part);
    template.resourceCountIs('Custom::SvcUrlGroup', 1);
  });

  it('need to know the account', () => {
    const { queue } = newApp();
    const make = () => {
      queue.schedule('daily', { cron: '0 9 * * *', destination: 'https://example.com' });
    };
    expect(make).toThrow("The schedule 'daily' needs an account: make one with queue.account() before.");
    queue.account('one');
    const other = queue.account('two');
    expect(make).toThrow("The schedule 'daily' must say which of the accounts it is for: account.");
    queue.urlGroup('orders', { account: other, endpoints: [{ url: 'https://example.com' }] });
  });
});

describe('what the app monitors', () => {
  it('are metrics, widgets and the alarms’ topic', () => {
    const { queue, stack, namesOfStacks } = newApp();
    queue.metric('Delivered').createAlarm(stack, 'Silence', { threshold: 1, evaluationPeriods: 1 });
    queue.addTo(new Dashboard(stack, 'Dashboard'));
    const template = Template.fromStack(stack);
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'Svc',
      MetricName: 'Delivered',
      Statistic: 'Sum',
    });
    expect(JSON.stringify(template.findResources('AWS::CloudWatch::Dashboard'))).toContain(
      'FirstAttemptDelay',
    );
    expect(queue.alarmTopic).toBeDefined();
    expect(newApp({ monitoring: false }).queue.alarmTopic).toBeUndefined();
    // Without accounts, nothing is created.
    expect(namesOfStacks()).not.toContain('Svc-Accounts');
  });
});
