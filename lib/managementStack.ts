/** The API with which the operator manages accounts: one for all regions, in the first of them. */
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { RequestAuthorizer, ResponseType } from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { managementRoutes } from '../lambdas/http/routes.ts';
import { answering, makeApi } from './api.ts';
import { allow, type CodeOf, SvcFunction } from './function.ts';
import { namesOf, queueArn, secretArn, tableArn } from './names.ts';
import type { ServiceStack } from './serviceStack.ts';
import type { Settings } from './settings.ts';

interface ManagementStackProps extends StackProps {
  readonly settings: Settings;
  /** The first region's: its functions' environment is this one's as well. */
  readonly home: ServiceStack;
  readonly codeOf: CodeOf;
}

/** Requests a second, and at one instant: an operator's hand and scripts, and whoever guesses at the password. */
const throttle = { rate: 50, burst: 50 };

/** What the authorizer refuses; the sentence is its own. */
const wrongCredentials = {
  type: ResponseType.ACCESS_DENIED,
  status: 401,
  sentence: '$context.authorizer.sentence',
  headers: { 'WWW-Authenticate': `'Basic realm="management", charset="UTF-8"'` },
};

export class ManagementStack extends Stack {
  constructor(scope: Construct, id: string, props: ManagementStackProps) {
    super(scope, id, props);
    const { settings, home, codeOf } = props;
    // The role with which the gateway writes logs, too, is in that stack.
    this.addStackDependency(home);

    const names = namesOf(settings);
    const inAllRegions = (arnOf: (scope: Construct, name: string, region: string) => string, name: string) =>
      settings.regions.map((region) => arnOf(this, name, region));
    const shared = { ...answering, settings, codeOf, environment: home.functionEnvironment };
    // Failed attempts to log in are counted here, where the API is.
    const countFailures = allow(
      ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
      tableArn(this, names.usageTable),
    );
    const accounts = new SvcFunction(this, 'Accounts', {
      ...shared,
      handler: 'accounts',
      description: 'Manages accounts',
      may: [
        allow(
          ['secretsmanager:GetSecretValue'],
          secretArn(this, names.masterSecret),
          secretArn(this, names.managementSecret),
        ),
        allow(
          ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Scan'],
          ...inAllRegions(tableArn, names.accountsTable),
        ),
        allow(['dynamodb:Query'], ...inAllRegions(tableArn, names.usageTable)),
        countFailures,
        allow(['sqs:SendMessage'], ...inAllRegions(queueArn, names.accountChangesQueue)),
      ],
    });
    const operator = new SvcFunction(this, 'Operator', {
      ...shared,
      handler: 'operator',
      description: 'Looks at the credentials of whoever calls the management API',
      may: [allow(['secretsmanager:GetSecretValue'], secretArn(this, names.managementSecret)), countFailures],
    });
    const { url } = makeApi(this, {
      name: `${settings.name}-management`,
      routes: managementRoutes,
      functions: { accounts },
      throttle,
      authorizer: new RequestAuthorizer(this, 'Authorizer', {
        handler: operator,
        // Each request is judged by itself: what is remembered would outlive a password.
        identitySources: [],
        resultsCacheTtl: Duration.seconds(0),
      }),
      ownAnswers: [wrongCredentials],
      settings,
    });

    new CfnOutput(this, 'ManagementUrl', {
      value: url,
      description: 'The base URL of the management API: SVC_MANAGEMENT_URL',
    });
    new CfnOutput(this, 'ManagementSecret', {
      value: names.managementSecret,
      description: 'The secret with its username and password',
    });
  }
}
