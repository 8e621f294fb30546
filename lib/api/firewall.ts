/** The firewall before an API: a web ACL of AWS WAF. */
import { Names } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { accept } from '../acknowledge.ts';
import type { Settings } from '../settings.ts';

/** The window in which WAF counts the requests of an address. */
const windowSeconds = 300;

const knownBadInputs = 'AWSManagedRulesKnownBadInputsRuleSet';

/**
 * The labels by which requests are refused that look like attacks on the service itself. A body is a message for somebody else and may
 * be anything, and so are the path and the query, which have the destination: rules that inspect these only count. The core
 * rule set is left out, because most of it inspects them: it refuses bodies beyond 8 KB and every path that has a URL of an IP
 * address. The labels are those of "Baseline rule groups" in the guide of AWS WAF.
 */
const refused = [
  'JavaDeserializationRCE_Header',
  'Log4JRCE_Header',
  'Host_Localhost_Header',
  'Propfind_Method',
] as const;

/** The other rules of the group. AWS WAF ends a group at its first rule that blocks; one that counts hides no label after it. */
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

/** The answer over the limit is the same as the gateway's: see `gatewayAnswers.ts`. */
const tooMany = {
  code: 'service_throttled',
  error:
    'This address sends more requests than the firewall lets through. Send this one again after a minute.',
} as const;

const seen = (metricName: string) => ({
  cloudWatchMetricsEnabled: true,
  metricName,
  // Samples would store paths, with tokens in them, which the logs leave out.
  sampledRequestsEnabled: false,
});

/** Puts a firewall before an API. */
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
        // It knows addresses only.
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
        // AWS adds rules to the group. All of them only label. So no version of it is pinned, which would expire.
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
