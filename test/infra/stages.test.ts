import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { presets } from '../../lib/presets.ts';
import { properties, resources, stacksOf, synthesize, synthesizeOne } from './app.ts';
import { elsewhere, everythingOn, instancesInZones, otherValues, reduced, unprotected } from './variants.ts';

const prod = synthesizeOne(everythingOn);
const dev = synthesizeOne(reduced);

const types = (template: Template): readonly string[] =>
  [...resources(template).values()].map(({ Type }) => Type);

describe('a stage', () => {
  it('makes the same templates again, so a second deployment changes nothing', () => {
    const again = stacksOf(everythingOn).map(({ name, template }) => [name, template.toJSON()]);
    expect(again).toEqual(
      synthesize(everythingOn).stacks.map(({ name, template }) => [name, template.toJSON()]),
    );
  });

  it('dev leaves nothing behind, and keeps nothing for long', () => {
    for (const { DeletionPolicy } of resources(dev.state).values()) expect(DeletionPolicy).not.toBe('Retain');
    for (const template of [dev.service, dev.management]) {
      template.allResourcesProperties('AWS::Logs::LogGroup', {
        RetentionInDays: presets.dev.logRetentionDays,
      });
    }
  });

  it('prod keeps data, and can restore it', () => {
    prod.state.allResourcesProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ],
    });
  });

  it('may restore what does not outlive its stack, and vice versa', () => {
    const restorable = synthesizeOne(unprotected);
    restorable.state.allResourcesProperties('AWS::DynamoDB::GlobalTable', {
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: false,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ],
    });
  });
});

describe('a table that was restored under another name', () => {
  it('replaces its stack’s table for all functions of its region', () => {
    const restored = synthesizeOne(otherValues);
    const shape = z.object({ Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }) });
    for (const { Environment } of properties(restored.service, 'AWS::Lambda::Function', shape)) {
      expect(Environment.Variables['MESSAGES_TABLE']).toBe('Svc-messages-restored');
      expect(Environment.Variables['LANES_TABLE']).not.toBe('Svc-messages-restored');
    }
    const policies = JSON.stringify(properties(restored.service, 'AWS::IAM::Policy', z.unknown()));
    expect(policies).toContain(':table/Svc-messages-restored');
    expect(policies).toContain(':table/Svc-messages-restored/index/log');
  });
});

/** The group's rules with their labels, in order: "Baseline rule groups" in AWS WAF's guide. */
const knownBadInputs: Readonly<Record<string, { readonly label: string; readonly blocks: boolean }>> = {
  JavaDeserializationRCE_HEADER: { label: 'JavaDeserializationRCE_Header', blocks: true },
  JavaDeserializationRCE_BODY: { label: 'JavaDeserializationRCE_Body', blocks: false },
  JavaDeserializationRCE_URIPATH: { label: 'JavaDeserializationRCE_URIPath', blocks: false },
  JavaDeserializationRCE_QUERYSTRING: { label: 'JavaDeserializationRCE_QueryString', blocks: false },
  Host_localhost_HEADER: { label: 'Host_Localhost_Header', blocks: true },
  PROPFIND_METHOD: { label: 'Propfind_Method', blocks: true },
  ExploitablePaths_URIPATH: { label: 'ExploitablePaths_URIPath', blocks: false },
  Log4JRCE_HEADER: { label: 'Log4JRCE_Header', blocks: true },
  Log4JRCE_QUERYSTRING: { label: 'Log4JRCE_QueryString', blocks: false },
  Log4JRCE_BODY: { label: 'Log4JRCE_Body', blocks: false },
  Log4JRCE_URIPATH: { label: 'Log4JRCE_URIPath', blocks: false },
  ReactJSRCE_BODY: { label: 'ReactJSRCE_Body', blocks: false },
};

const groupRule = z.object({
  Name: z.literal('AWSManagedRulesKnownBadInputsRuleSet'),
  Statement: z.object({
    ManagedRuleGroupStatement: z.object({
      Version: z.undefined().optional(),
      RuleActionOverrides: z
        .array(z.object({ Name: z.string(), ActionToUse: z.object({ Count: z.object({}) }) }))
        .default([]),
    }),
  }),
  OverrideAction: z.union([z.object({ None: z.object({}) }), z.object({ Count: z.object({}) })]),
});
const labelRule = z.object({
  Statement: z.object({
    OrStatement: z.object({
      Statements: z.array(
        z.object({ LabelMatchStatement: z.object({ Scope: z.literal('LABEL'), Key: z.string() }) }),
      ),
    }),
  }),
  Action: z.object({ Block: z.object({}) }),
});

/**
 * Whether the firewall blocks a request that matches rules of the group in this order. A blocking rule ends the group; labels
 * up to it are set. Then the group's result is overridden, and later rules see the labels.
 *
 * @param lastLabel the last rule's label
 */
function isBlocked(matching: readonly string[], lastLabel: string): boolean {
  const [acl] = properties(prod.service, 'AWS::WAFv2::WebACL', z.object({ Rules: z.array(z.unknown()) }));
  const [group] = (acl?.Rules ?? []).flatMap((rule) => groupRule.safeParse(rule).data ?? []);
  const keys = (acl?.Rules ?? [])
    .flatMap((rule) => labelRule.safeParse(rule).data ?? [])
    .flatMap(({ Statement }) => Statement.OrStatement.Statements)
    .map(({ LabelMatchStatement }) => LabelMatchStatement.Key);
  if (group === undefined) throw new Error('The group is not there.');
  const counted = group.Statement.ManagedRuleGroupStatement.RuleActionOverrides.map(({ Name }) => Name);
  const end = matching.findIndex((rule) => !counted.includes(rule));
  const reached = end === -1 ? matching : matching.slice(0, end + 1);
  if (end !== -1 && 'None' in group.OverrideAction) return true;
  const labels = reached.map((rule) => (rule === matching.at(-1) ? lastLabel : knownBadInputs[rule]?.label));
  return labels.some((label) => keys.includes(`awswaf:managed:aws:known-bad-inputs:${label}`));
}

describe('the firewall', () => {
  const rules = z.array(
    z.object({
      Name: z.string(),
      Priority: z.number(),
      Statement: z.record(z.string(), z.unknown()),
      VisibilityConfig: z.object({ SampledRequestsEnabled: z.boolean() }),
    }),
  );
  const acl = z.object({ Scope: z.string(), Rules: rules });

  it('is not there by default', () => {
    expect(types(dev.service).filter((type) => type.startsWith('AWS::WAFv2'))).toEqual([]);
  });

  it.each([
    ['messaging', prod.service],
    ['management', prod.management],
  ])('is in front of the %s API', (_, template) => {
    template.hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
      WebACLArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('Firewall'), 'Arn'] },
      ResourceArn: Match.objectLike({ 'Fn::Join': Match.anyValue() }),
    });
    const [found] = properties(template, 'AWS::WAFv2::WebACL', acl);
    expect(found?.Rules.map(({ Name, Priority }) => [Priority, Name])).toEqual([
      [0, 'TooManyRequests'],
      [1, 'AWSManagedRulesAmazonIpReputationList'],
      [2, 'AWSManagedRulesKnownBadInputsRuleSet'],
      [3, 'KnownAttacks'],
    ]);
    // A sample would show paths, which may contain tokens.
    expect(found?.Rules.some((rule) => rule.VisibilityConfig.SampledRequestsEnabled)).toBe(false);
  });

  it('never refuses a message because of its body or destination', () => {
    for (const [rule, { label, blocks }] of Object.entries(knownBadInputs))
      expect([rule, isBlocked([rule], label)]).toEqual([rule, blocks]);
  });

  it('counts rules that AWS adds, and refuses an attack that such a body comes with', () => {
    expect(isBlocked(['NextYearsRCE_BODY'], 'NextYearsRCE_Body')).toBe(false);
    expect(isBlocked(['ReactJSRCE_BODY', 'Log4JRCE_HEADER'], 'Log4JRCE_Header')).toBe(true);
  });

  it('answers 429 to a flood, with a code as in the API', () => {
    prod.service.hasResourceProperties('AWS::WAFv2::WebACL', {
      Rules: Match.arrayWith([
        Match.objectLike({
          Statement: {
            RateBasedStatement: { Limit: 100_000, AggregateKeyType: 'IP', EvaluationWindowSec: 300 },
          },
          Action: { Block: { CustomResponse: Match.objectLike({ ResponseCode: 429 }) } },
        }),
      ]),
      CustomResponseBodies: {
        tooMany: { Content: Match.serializedJson(Match.objectLike({ code: 'service_throttled' })) },
      },
    });
  });
});

describe('a custom domain', () => {
  it.each([
    ['a region', prod.service, 'queue.example.com'],
    ['the management API', prod.management, 'admin.example.com'],
  ])('of %s leads to the root of its API, by TLS 1.2 and its own record', (_, template, name) => {
    template.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: name,
      RegionalCertificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0a1b2c3d',
      EndpointConfiguration: { Types: ['REGIONAL'] },
      SecurityPolicy: 'TLS_1_2',
    });
    template.hasResourceProperties('AWS::ApiGateway::BasePathMapping', { BasePath: Match.absent() });
    template.hasResourceProperties('AWS::Route53::RecordSet', {
      Name: name,
      Type: 'A',
      HostedZoneId: 'Z0123456789ABC',
    });
  });

  it('is in the stacks’ outputs', () => {
    prod.service.hasOutput('Url', { Value: 'https://queue.example.com' });
    prod.management.hasOutput('ManagementUrl', { Value: 'https://admin.example.com' });
  });

  it('is known to all functions as the service itself', () => {
    for (const template of [prod.service, prod.management]) {
      for (const { Properties } of resources(template, 'AWS::Lambda::Function').values()) {
        expect(JSON.stringify(Properties['Environment'])).toContain('queue.example.com,admin.example.com');
      }
    }
  });

  it('may share a domain with other APIs, by a base path', () => {
    const { service } = synthesizeOne(instancesInZones);
    service.hasResourceProperties('AWS::ApiGateway::BasePathMapping', { BasePath: 'queue' });
    service.hasOutput('Url', { Value: 'https://example.com/queue' });
    const existing = synthesizeOne(elsewhere).service;
    expect(types(existing)).not.toContain('AWS::ApiGateway::DomainName');
    existing.hasResourceProperties('AWS::ApiGateway::BasePathMapping', {
      BasePath: 'queue',
      DomainName: 'example.com',
    });
    for (const { Properties } of resources(existing, 'AWS::Lambda::Function').values())
      expect(JSON.stringify(Properties['Environment'])).toContain('example.com/queue');
  });

  it('has its target in the outputs if the operator makes the record', () => {
    expect(types(dev.service)).not.toContain('AWS::Route53::RecordSet');
    dev.service.hasOutput('DomainTarget', { Description: Match.stringLikeRegexp('queue.example.com') });
  });
});
