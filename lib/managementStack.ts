/** The stack of the management API, in the first region only. */
import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import { ResponseType, type SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { consoleRoutes, managementRoutes } from '../lambdas/http/routes.ts';
import { allowGateway, answerTimeout, connect, makeApi } from './api/api.ts';
import { type CodeOf, type SharedProps, SvcFunction } from './functions/function.ts';
import type { GatewayAnswer } from './api/gatewayAnswers.ts';
import { setFlags } from './flags.ts';
import { namesOf, queueArn, secretArn, tableArn } from './names.ts';
import type { ServiceStack } from './serviceStack.ts';
import type { Settings } from './settings.ts';
import {
  allow,
  noteHostsAndUses,
  readApiHosts,
  readTlsSecrets,
  removeTokens,
  writeTrails,
} from './statements.ts';

interface ManagementStackProps extends StackProps {
  readonly settings: Settings;
  readonly home: ServiceStack;
  readonly codeOf: CodeOf;
}

/** Requests a second, and at one instant: enough for an operator and scripts, too few to guess passwords. */
const throttle = { rate: 50, burst: 50 };

/** The authorizer decides the code and the sentence. */
const wrongCredentials: GatewayAnswer = {
  type: ResponseType.ACCESS_DENIED,
  status: 401,
  code: '$context.authorizer.code',
  sentence: '$context.authorizer.sentence',
  headers: { 'WWW-Authenticate': `'Basic realm="management", charset="UTF-8"'` },
};

export class ManagementStack extends Stack {
  readonly api: SpecRestApi;
  readonly accounts: SvcFunction;
  readonly authorizer: SvcFunction;

  constructor(scope: Construct, id: string, { settings, home, codeOf, ...props }: ManagementStackProps) {
    super(scope, id, props);
    setFlags(this);
    // API Gateway writes this API's access log with a role of that stack.
    this.addStackDependency(home);

    const shared = { environment: home.environmentWithoutHost, settings, codeOf };
    this.accounts = this.makeAccounts(shared);
    this.authorizer = this.makeAuthorizer(shared);
    const { api, url } = makeApi(this, {
      name: namesOf(settings).managementApi,
      place: 'management',
      throttle,
      routes: [...managementRoutes, ...consoleRoutes],
      authorizer: { before: 'accounts', arn: this.authorizer.live.functionArn },
      ownAnswers: [wrongCredentials],
      settings,
    });
    this.api = api;
    connect(api, { accounts: this.accounts, console: this.makeConsole(shared) });
    const authorizers = { service: 'execute-api', resource: api.restApiId, resourceName: 'authorizers/*' };
    allowGateway(api, this.authorizer, this.formatArn(authorizers));

    new CfnOutput(this, 'ManagementUrl', {
      value: url,
      description: 'The base URL of the management API: SVC_MANAGEMENT_URL',
    });
    new CfnOutput(this, 'ManagementSecret', {
      value: namesOf(settings).managementSecret,
      description: 'The secret with its username and password',
    });
  }

  private makeAccounts(shared: SharedProps): SvcFunction {
    const { settings } = shared;
    const names = namesOf(settings);
    const homeAccounts = tableArn(this, names.accountsTable);
    const inAllRegions = (arnOf: (scope: Construct, name: string, region: string) => string, name: string) =>
      settings.regions.map((region) => arnOf(this, name, region));
    return new SvcFunction(this, 'Accounts', {
      ...shared,
      handler: 'accounts',
      description: 'Manages accounts',
      timeout: answerTimeout,
      may: [
        allow(
          ['secretsmanager:GetSecretValue'],
          secretArn(this, names.masterSecret),
          secretArn(this, names.managementSecret),
        ),
        // The test of a failure callback makes a delivery.
        readTlsSecrets(this, settings),
        allow(
          ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Scan'],
          ...inAllRegions(tableArn, names.accountsTable),
        ),
        removeTokens(...inAllRegions(tableArn, names.accountsTable)),
        readApiHosts(homeAccounts, settings.regions),
        noteHostsAndUses(homeAccounts, this.region, 'management'),
        allow(['dynamodb:Query'], ...inAllRegions(tableArn, names.usageTable)),
        writeTrails(...inAllRegions(tableArn, names.usageTable)),
        this.countFailedLogins(settings),
        allow(['sqs:SendMessage'], ...inAllRegions(queueArn, names.accountChangesQueue)),
      ],
    });
  }

  private makeConsole(shared: SharedProps): SvcFunction {
    return new SvcFunction(this, 'ManagementConsole', {
      ...shared,
      handler: 'console',
      description: 'Serves the console, a web page',
      timeout: answerTimeout,
      variables: { CONSOLE_APIS: 'management' },
      may: [],
    });
  }

  private makeAuthorizer(shared: SharedProps): SvcFunction {
    const { managementSecret } = namesOf(shared.settings);
    return new SvcFunction(this, 'ManagementAuthorizer', {
      ...shared,
      handler: 'managementAuthorizer',
      description: 'Checks the credentials of calls to the management API',
      timeout: answerTimeout,
      may: [
        allow(['secretsmanager:GetSecretValue'], secretArn(this, managementSecret)),
        this.countFailedLogins(shared.settings),
      ],
    });
  }

  /** Failed logins are counted only in the region of this API. */
  private countFailedLogins(settings: Settings): PolicyStatement {
    return allow(['dynamodb:GetItem', 'dynamodb:UpdateItem'], tableArn(this, namesOf(settings).usageTable));
  }
}
