/** What the service has in EventBridge Scheduler: a group for its schedules, and the role that they send with. */
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Aws, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { allow } from './function.ts';
import type { Queues } from './queues.ts';

export class Scheduling extends Construct {
  readonly groupName: string;
  readonly role: Role;
  readonly #scheduleArns: string;

  constructor(scope: Construct, id: string, { groupName, queues }: { groupName: string; queues: Queues }) {
    super(scope, id);
    this.groupName =
      groupName === 'default' ? groupName : new CfnScheduleGroup(this, 'Group', { name: groupName }).ref;
    const groupArn = Stack.of(this).formatArn({
      service: 'scheduler',
      resource: 'schedule-group',
      resourceName: groupName,
    });
    this.#scheduleArns = Stack.of(this).formatArn({
      service: 'scheduler',
      resource: 'schedule',
      resourceName: `${groupName}/*`,
    });
    this.role = new Role(this, 'Role', {
      // Only our own schedules may send as this role, and nobody else's.
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': groupArn } },
      }),
    });
    const { short, long, dead, fire, undeliveredFires } = queues;
    this.role.addToPolicy(
      allow(
        ['sqs:SendMessage'],
        ...[short, long, dead, fire, undeliveredFires].map((queue) => queue.queueArn),
      ),
    );
  }

  /** What lets a function make and end schedules of the group, which send as the role. */
  mayUse(...actions: ('CreateSchedule' | 'DeleteSchedule')[]): PolicyStatement[] {
    return [
      allow(
        actions.map((action) => `scheduler:${action}`),
        this.#scheduleArns,
      ),
      ...(actions.includes('CreateSchedule') ? [allow(['iam:PassRole'], this.role.roleArn)] : []),
    ];
  }
}
