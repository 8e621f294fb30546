/** The firewall before an API: a web ACL of AWS WAF. */
import { Names } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import type { Settings } from '../settings.ts';

/** The window in which WAF counts the requests of an address. */
const windowSeconds = 300;

/** AWS's own rules, some of which only count their matches. */
interface RuleGroup {
  readonly name: string;
  readonly onlyCounted: readonly string[];
}

/**
 * AWS's rules that fit an API whose requests carry other people's content. A body is a message for somebody else and may be
 * anything, and so is the path, in which a destination stands: rules that inspect these only count. The core rule set is left out,
 * because most of it inspects them: it refuses bodies beyond 8 KB and every path that has a URL of an IP address.
 */
const ruleGroups: readonly RuleGroup[] = [
  { name: 'AWSManagedRulesAmazonIpReputationList', onlyCounted: [] },
  {
    name: 'AWSManagedRulesKnownBadInputsRuleSet',
    onlyCounted: [
      'JavaDeserializationRCE_BODY',
      'JavaDeserializationRCE_URIPATH',
      'Log4JRCE_BODY',
      'Log4JRCE_URIPATH',
      'ExploitablePaths_URIPATH',
    ],
  },
];

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
      ...ruleGroups.map(({ name, onlyCounted }, at) => ({
        name,
        priority: at + 1,
        statement: {
          managedRuleGroupStatement: {
            vendorName: 'AWS',
            name,
            ruleActionOverrides: onlyCounted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
          },
        },
        // The group's own actions apply.
        overrideAction: { none: {} },
        visibilityConfig: seen(`${prefix}-${name}`),
      })),
    ],
  });
  if (forEmulator) return;
  new CfnWebACLAssociation(scope, 'FirewallOfApi', {
    webAclArn: acl.attrArn,
    resourceArn: api.deploymentStage.stageArn,
  });
}
