/** The service's group of schedules in EventBridge Scheduler, and the role that its schedules send with. */
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Aws, Fn, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { acceptOwnPolicy } from '../acknowledge.ts';
import type { Queues } from './queues.ts';
import { allow } from '../statements.ts';

export class ScheduleGroup extends Construct {
  /** The name in Scheduler. */
  readonly groupName: string;
  /** The role with which schedules send to queues. */
  readonly role: Role;
  /** The pattern of the ARNs of all schedules of the group. */
  readonly scheduleArns: string;

  /**
   * @param props `groupName` may be `default`: the group that every AWS account has, and that is not made here. `fixed` are imports
   *   of what may not change, see `fixedOf`: they must be on some resource, and the role is in every region
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
      // Without these conditions, a schedule of another group or account could send with this role.
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': groupArn } },
      }),
    });
    acceptOwnPolicy(this.role);
    // `dead` and `undeliveredFires` get what Scheduler cannot send to the others.
    const { short, long, dead, fire, undeliveredFires } = queues;
    this.role.addToPolicy(
      allow(
        ['sqs:SendMessage'],
        ...[short, long, dead, fire, undeliveredFires].map((queue) => queue.queueArn),
      ),
    );
  }
}
