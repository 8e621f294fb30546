import type { Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  type ApiName,
  apiHostsKey,
  apiNames,
  auditedPrefix,
  tokenKeyPrefix,
} from '../lambdas/aws/resources.ts';
import { PatternStatement, shownArn } from './acknowledge.ts';
import { tlsSecretArns } from './names.ts';
import type { Settings } from './settings.ts';

/** A test refuses patterns in `resources`. */
export function allow(actions: readonly string[], ...resources: readonly string[]): PolicyStatement {
  return new PolicyStatement({ actions: [...actions], resources: [...resources] });
}

/** Allows actions only on table rows with one of these keys. A key may end with `*`. */
function allowRows(
  actions: readonly string[],
  tableArns: readonly string[],
  keys: readonly string[],
): PolicyStatement {
  const statement = allow(actions, ...tableArns);
  const compares = keys.some((key) => key.endsWith('*')) ? 'StringLike' : 'StringEquals';
  // The condition is also true for a request without keys, but these actions always have keys.
  statement.addCondition(`ForAllValues:${compares}`, { 'dynamodb:LeadingKeys': [...keys] });
  return statement;
}

/** Allows reading the certificates of accounts and no other secret. */
export function readTlsSecrets(stack: Stack, settings: Pick<Settings, 'name'>): PolicyStatement {
  const arns = tlsSecretArns(stack, settings);
  return new PatternStatement(
    ['secretsmanager:GetSecretValue'],
    arns,
    'Accounts name these secrets in their field `tls_identities`. The operator makes them under this name, and makes no others there.',
    shownArn(stack, arns),
  );
}

/** For functions that refuse destinations. Does not allow reading accounts. */
export const readApiHosts = (accountsArn: string, regions: readonly string[]): PolicyStatement =>
  allowRows(
    ['dynamodb:BatchGetItem'],
    [accountsArn],
    regions.flatMap((region) => apiNames.map((api) => apiHostsKey(region, api))),
  );

const tokenRows = `${tokenKeyPrefix}*`;

/** Allows a function to write its API's hosts and the use of named tokens, but no account. */
export const noteHostsAndUses = (accountsArn: string, region: string, api: ApiName): PolicyStatement =>
  allowRows(
    ['dynamodb:UpdateItem'],
    [accountsArn],
    [apiHostsKey(region, api), ...(api === 'messaging' ? [tokenRows] : [])],
  );

/** Allows deleting named tokens, but no account. */
export const removeTokens = (...accountsArns: readonly string[]): PolicyStatement =>
  allowRows(['dynamodb:DeleteItem'], accountsArns, [tokenRows]);

export const writeTrails = (...usageArns: readonly string[]): PolicyStatement =>
  allowRows(['dynamodb:UpdateItem'], usageArns, [`${auditedPrefix}*`]);

/**
 * For AWS, the action on one message includes batches ("Actions, resources, and condition keys for Amazon
 * SQS"). Only emulators know the other name.
 */
export const alsoInBatches = (forEmulator: boolean, ...actions: readonly string[]): string[] => [
  ...actions,
  ...(forEmulator ? actions.map((action) => `${action}Batch`) : []),
];
