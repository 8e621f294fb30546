import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Aws, Fn, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { acceptOwnPolicy } from '../acknowledge.ts';
import type { Queues } from './queues.ts';
import { allow } from '../statements.ts';

export class ScheduleGroup extends Construct {
  readonly groupName: string;
  readonly role: Role;
  readonly scheduleArns: string;

  /**
   * @param props `groupName` may be `default`, the group that every AWS account has. `fixed` are imports of
   * values that may not change (see `fixedOf`), held by the role, because every region has one
   */
  constructor(
    scope: Construct,
    id: string,
    {
      groupName,
      queues,
      fixed,
    }: { readonly groupName: string; readonly queues: Queues; readonly fixed: readonly string[] },
  ) {
    super(scope, id);
    this.groupName =
      groupName === 'default' ? groupName : new CfnScheduleGroup(this, 'Group', { name: groupName }).ref;
    const groupArn = Stack.of(this).formatArn({
      service: 'scheduler',
      resource: 'schedule-group',
      resourceName: groupName,
    });
    this.scheduleArns = Stack.of(this).formatArn({
      service: 'scheduler',
      resource: 'schedule',
      resourceName: `${groupName}/*`,
    });
    this.role = new Role(this, 'Role', {
      description: Fn.join(' ', ['Sends what is due later. Fixed with the first deployment:', ...fixed]),
      // Without these conditions, schedules of other groups or accounts could use this role.
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': groupArn } },
      }),
    });
    acceptOwnPolicy(this.role);
    // `dead` and `undeliveredFires` get jobs that Scheduler cannot send to the other queues.
    const { short, long, dead, fire, undeliveredFires } = queues;
    this.role.addToPolicy(
      allow(
        ['sqs:SendMessage'],
        ...[short, long, dead, fire, undeliveredFires].map((queue) => queue.queueArn),
      ),
    );
  }
}
