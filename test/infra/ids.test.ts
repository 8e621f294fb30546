import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { resources, synthesizeOne } from './app.ts';
import { stateful } from './changes/deployed.ts';

/** Resources that keep nothing, or are recreated identically. */
const stateless = [
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::Deployment',
  'AWS::ApiGateway::Stage',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::Events::Rule',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
  'AWS::Logs::MetricFilter',
  'AWS::Logs::QueryDefinition',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
];

const templates = synthesizeOne();

function idsOf(template: Template): string[] {
  return [...resources(template)]
    .filter(([, { Type }]) => stateful.includes(Type))
    .map(([id, { Type }]) => `${Type} ${id}`)
    .sort();
}

describe('the logical ids of what keeps something', () => {
  it('stay the same, in every stack', () => {
    expect(idsOf(templates.state)).toEqual([
      'AWS::DynamoDB::GlobalTable AccountsBE8A900E',
      'AWS::DynamoDB::GlobalTable Deduplication2A28A1ED',
      'AWS::DynamoDB::GlobalTable DlqD1FAA4AD',
      'AWS::DynamoDB::GlobalTable GroupsDE01CDA8',
      'AWS::DynamoDB::GlobalTable LanesECC43FAD',
      'AWS::DynamoDB::GlobalTable Messages804FA4EB',
      'AWS::DynamoDB::GlobalTable ScheduleTable6DED49F5',
      'AWS::DynamoDB::GlobalTable Usage04F2BA28',
      'AWS::DynamoDB::GlobalTable WorkflowsD2A3D03F',
      'AWS::S3::Bucket Bodies3FF2AA63',
      'AWS::S3::Bucket BodiesAccessLog6543E272',
      'AWS::SecretsManager::Secret ManagementSecret65FBE572',
      'AWS::SecretsManager::Secret MasterSecretA11BF785',
    ]);
    expect(idsOf(templates.service)).toEqual([
      'AWS::ApiGateway::RestApi ApiF70053CD',
      'AWS::Lambda::Url PublishLiveFunctionUrlD641DB43',
      'AWS::Logs::LogGroup AlarmsLog2A85566B',
      'AWS::Logs::LogGroup ApiAccessLog3B08078D',
      'AWS::Logs::LogGroup ConsoleLog5234E4DE',
      'AWS::Logs::LogGroup CountOutcomesLogFE8415F8',
      'AWS::Logs::LogGroup DeliverAloneLog2CF1E2C2',
      'AWS::Logs::LogGroup DeliverLongLog49996435',
      'AWS::Logs::LogGroup DeliverShortLog23722A9A',
      'AWS::Logs::LogGroup DeliverSlowLog71D9C35D',
      'AWS::Logs::LogGroup DescriptionLogE2B3F639',
      'AWS::Logs::LogGroup DlqApiLog67D84D3E',
      'AWS::Logs::LogGroup FireLogC03D7BF8',
      'AWS::Logs::LogGroup FlowControlLogCF7383CA',
      'AWS::Logs::LogGroup FollowAccountLog34929823',
      'AWS::Logs::LogGroup KeysLog3631E115',
      'AWS::Logs::LogGroup LogsLog9363FF58',
      'AWS::Logs::LogGroup LookForAlarmsLogD45A3FF7',
      'AWS::Logs::LogGroup MessagesApiLogE7C20D9F',
      'AWS::Logs::LogGroup PublishLogC283E3C2',
      'AWS::Logs::LogGroup QueuesApiLogD8BF6032',
      'AWS::Logs::LogGroup RedriveLog0DDC0C6C',
      'AWS::Logs::LogGroup SchedulesLog0D2C1AF7',
      'AWS::Logs::LogGroup StatsLog6D1D29DB',
      'AWS::Logs::LogGroup UrlGroupsLog8359413E',
      'AWS::Logs::LogGroup WorkflowsLog412B4E45',
      'AWS::SNS::Topic MonitoringTopic2EDA8B02',
      'AWS::SQS::Queue QueuesAccountChangesBFE824F8',
      'AWS::SQS::Queue QueuesDeadC0E868EF',
      'AWS::SQS::Queue QueuesFireEDC1DE07',
      'AWS::SQS::Queue QueuesLongA2CC1DDD',
      'AWS::SQS::Queue QueuesParked7648A030',
      'AWS::SQS::Queue QueuesShortD3EE16E9',
      'AWS::SQS::Queue QueuesSlowBF74C2CE',
      'AWS::SQS::Queue QueuesUndeliveredFiresF2512556',
      'AWS::Scheduler::ScheduleGroup SchedulingGroupF9AE2582',
    ]);
    expect(idsOf(templates.management)).toEqual([
      'AWS::ApiGateway::RestApi ApiF70053CD',
      'AWS::Logs::LogGroup AccountsLog2490562F',
      'AWS::Logs::LogGroup ApiAccessLog3B08078D',
      'AWS::Logs::LogGroup ManagementAuthorizerLog8014F4CF',
      'AWS::Logs::LogGroup ManagementConsoleLogC0FCCF4D',
    ]);
  });

  it('are known for every type of resource: a new type must be listed as keeping something or nothing', () => {
    const types = [templates.state, templates.service, templates.management].flatMap((template) =>
      [...resources(template).values()].map(({ Type }) => Type),
    );
    expect([...new Set(types)].sort()).toEqual([...stateful, ...stateless].sort());
  });
});
