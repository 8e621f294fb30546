import { Names } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { accept } from '../acknowledge.ts';
import type { Settings } from '../settings.ts';

const windowSeconds = 300;

const knownBadInputs = 'AWSManagedRulesKnownBadInputsRuleSet';

/**
 * Labels of requests that are refused because they attack the service itself. The body, the path and the query may contain
 * anything, because they are for destinations, so rules that inspect these only count. The core rule set would refuse bodies
 * over 8 KB and paths with the URL of an IP address. Labels: "Baseline rule groups" in the AWS WAF guide.
 */
const refused = [
  'JavaDeserializationRCE_Header',
  'Log4JRCE_Header',
  'Host_Localhost_Header',
  'Propfind_Method',
] as const;

/**
 * The other rules of the group only count. A rule that blocks would end the group, and later labels would be
 * missing.
 */
const onlyCounted = [
  'JavaDeserializationRCE_BODY',
  'JavaDeserializationRCE_URIPATH',
  'JavaDeserializationRCE_QUERYSTRING',
  'Log4JRCE_BODY',
  'Log4JRCE_URIPATH',
  'Log4JRCE_QUERYSTRING',
  'ReactJSRCE_BODY',
  'ExploitablePaths_URIPATH',
] as const;

/** The same answer as the gateway's above its limit: see `gatewayAnswers.ts`. */
const tooMany = {
  code: 'service_throttled',
  error:
    'This address sends more requests than the firewall lets through. Send this one again after a minute.',
} as const;

const seen = (metricName: string) => ({
  cloudWatchMetricsEnabled: true,
  metricName,
  // Samples would store paths, which contain tokens.
  sampledRequestsEnabled: false,
});

export function makeFirewall(
  scope: Construct,
  api: SpecRestApi,
  { firewallRate, forEmulator }: Pick<Settings, 'firewallRate' | 'forEmulator'>,
): void {
  const prefix = Names.uniqueResourceName(api, { maxLength: 60, separator: '-' });
  const acl = new CfnWebACL(scope, 'Firewall', {
    description: 'Refuses addresses that attack others, known attacks, and floods',
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    customResponseBodies: {
      tooMany: { contentType: 'APPLICATION_JSON', content: JSON.stringify(tooMany) },
    },
    visibilityConfig: seen(`${prefix}-firewall`),
    rules: [
      {
        name: 'TooManyRequests',
        priority: 0,
        statement: {
          rateBasedStatement: {
            limit: firewallRate,
            aggregateKeyType: 'IP',
            evaluationWindowSec: windowSeconds,
          },
        },
        action: {
          block: {
            customResponse: {
              responseCode: 429,
              customResponseBodyKey: 'tooMany',
              responseHeaders: [{ name: 'Retry-After', value: '60' }],
            },
          },
        },
        visibilityConfig: seen(`${prefix}-too-many-requests`),
      },
      {
        name: 'AWSManagedRulesAmazonIpReputationList',
        priority: 1,
        // This group inspects addresses only.
        statement: {
          managedRuleGroupStatement: { vendorName: 'AWS', name: 'AWSManagedRulesAmazonIpReputationList' },
        },
        overrideAction: { none: {} },
        visibilityConfig: seen(`${prefix}-AWSManagedRulesAmazonIpReputationList`),
      },
      {
        name: knownBadInputs,
        priority: 2,
        statement: {
          managedRuleGroupStatement: {
            vendorName: 'AWS',
            name: knownBadInputs,
            ruleActionOverrides: onlyCounted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
          },
        },
        // All rules only label, so new rules do no harm, and the version need not be fixed. Versions expire.
        overrideAction: { count: {} },
        visibilityConfig: seen(`${prefix}-${knownBadInputs}`),
      },
      {
        name: 'KnownAttacks',
        priority: 3,
        statement: {
          orStatement: {
            statements: refused.map((label) => ({
              labelMatchStatement: { scope: 'LABEL', key: `awswaf:managed:aws:known-bad-inputs:${label}` },
            })),
          },
        },
        action: { block: {} },
        visibilityConfig: seen(`${prefix}-known-attacks`),
      },
    ],
  });
  accept(
    acl,
    'NIST.800.53.R5-WAFv2LoggingEnabled',
    'Its log would have headers and paths, with tokens in them. CloudWatch has the count of each rule, and the access log each request.',
  );
  if (forEmulator) return;
  new CfnWebACLAssociation(scope, 'FirewallOfApi', {
    webAclArn: acl.attrArn,
    resourceArn: api.deploymentStage.stageArn,
  });
}
