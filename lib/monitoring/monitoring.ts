/** A region's alarms with their topic, a saved query for each, and in the first region the dashboard of all regions. */
import { Aws, CfnOutput, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnQueryDefinition, FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { accept } from '../acknowledge.ts';
import { alarmList, type LogsOf } from './alarmTable.ts';
import { failedInvocations, metricOf, type Watched } from './alarms.ts';
import { makeDashboard } from './dashboard.ts';
import { namesOf } from '../names.ts';

const alarmService = new ServicePrincipal('cloudwatch.amazonaws.com');

export class Monitoring extends Construct {
  readonly topic: Topic;
  readonly alarms: readonly Alarm[];
  /** The alarms that require action soon. */
  readonly essential: readonly Alarm[];

  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id);
    const { settings } = watched;
    const { alarmTopic, alarm } = namesOf(settings);
    this.topic = this.makeTopic(alarmTopic);
    for (const address of settings.alarmEmails) {
      accept(
        this.topic.addSubscription(new EmailSubscription(address)),
        'Serverless-SNSRedrivePolicy',
        'A lost mail would be in a queue that no one reads. CloudWatch keeps the state of each alarm.',
      );
    }

    const action = new SnsAction(this.topic);
    const isEssential = settings.monitoring === 'essential';
    const made = alarmList.filter(
      ([, { essential, onInstances }]) =>
        (!isEssential || essential === true) &&
        (onInstances === undefined || watched.capacityProvider !== undefined),
    );
    const alarms = made.flatMap(([name, { meaning, atLeast, periods, essential = false }]) => {
      const metric = metricOf(name, watched);
      if (settings.forEmulator && metric instanceof MathExpression) return [];
      const one = new Alarm(this, name, {
        alarmName: alarm(name),
        alarmDescription: `${meaning} What to do: docs/operate.md, "${name}".`,
        metric,
        threshold: atLeast,
        // Metrics may be minutes late, and a computed metric is 0 until then. So one period may be below the limit
        // ("Understanding CloudWatch Alarm Evaluation" on AWS re:Post).
        evaluationPeriods: periods + 1,
        datapointsToAlarm: periods,
        comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        treatMissingData: TreatMissingData.NOT_BREACHING,
      });
      one.addAlarmAction(action);
      one.addOkAction(action);
      return [{ one, essential }];
    });
    this.alarms = alarms.map(({ one }) => one);
    this.essential = alarms.flatMap(({ one, essential }) => (essential ? [one] : []));
    if (!settings.forEmulator) {
      this.saveQueries(watched, made);
      if (!isEssential) this.countFailures(watched);
    }
    if (!isEssential && settings.regions[0] === Stack.of(this).region)
      makeDashboard(this, { watched, alarms: this.alarms });
    new CfnOutput(scope, 'AlarmTopic', {
      value: this.topic.topicArn,
      description: 'The topic that alarms are sent to',
    });
  }

  /** Only CloudWatch may send to it. */
  private makeTopic(topicName: string): Topic {
    const topic = new Topic(this, 'Topic', { topicName, enforceSSL: true });
    accept(
      topic,
      'NIST.800.53.R5-SNSEncryptedKMS',
      'An alarm’s text has names of alarms and metrics, and no secret; SNS stores it on encrypted disks ("Data encryption", SNS ' +
        'Developer Guide). CloudWatch cannot send with the key that SNS has for every AWS account ("Amazon SNS notifications when ' +
        'an alarm changes state"), and a separate key costs $1 a month in each region, $3 with rotation.',
    );
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [alarmService],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    return topic;
  }

  private countFailures({ settings, messageFunctions }: Watched): void {
    for (const { node, logGroup, isOnInstances } of messageFunctions)
      for (const { id, pattern, value } of isOnInstances ? [] : failedInvocations.filters) {
        new MetricFilter(this, `${node.id}${id}`, {
          logGroup,
          filterPattern: FilterPattern.literal(pattern),
          metricNamespace: settings.name,
          metricName: failedInvocations.metricName,
          metricValue: value,
        });
      }
  }

  /** In a folder with the deployment's name. */
  private saveQueries({ settings, messageFunctions, apiFunctions }: Watched, alarms: typeof alarmList): void {
    const logsOf: Readonly<Record<LogsOf, readonly Watched['publish'][]>> = {
      workers: messageFunctions,
      api: apiFunctions,
      all: [...new Set([...messageFunctions, ...apiFunctions])],
    };
    for (const [name, { query }] of alarms) {
      new CfnQueryDefinition(this, `${name}Query`, {
        name: `${settings.name}/${name}`,
        queryString: query.text,
        logGroupNames: logsOf[query.logs].map(({ logGroup }) => logGroup.logGroupName),
      });
    }
  }
}
