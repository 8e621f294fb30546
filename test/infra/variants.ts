/**
 * Sets of settings. A set takes a second to synthesize and few settings touch the same resource, so each set changes many, and
 * tests of several files share it.
 */
import { join } from 'node:path';
import { root } from './app.ts';

export type Context = Readonly<Record<string, string>>;

export const oneRegion: Context = { regions: 'eu-central-1' };

const certificates = join(root, 'test/support/certificates');

const arnsOf = {
  queue: 'arn:aws:sqs:*:111122223333:orders-*',
  topic: 'arn:aws:sns:*:111122223333:orders-*',
  bus: 'arn:aws:events:*:111122223333:event-bus/orders',
};
/** Messages may go to functions, queues, topics and buses. By default they may not, and nothing may send to these. */
const destinations = {
  destinations: Object.values(arnsOf).join(),
  lambdaDestinations: 'arn:aws:lambda:*:111122223333:function:orders-*',
};

const vpc = {
  vpcs: 'eu-central-1=vpc-0a1b2c3d',
  subnets: 'eu-central-1=subnet-0a1b2c3d,eu-central-1=subnet-0b1b2c3d',
};

/** All settings that add resources, in one region, with the delivery functions in the operator's VPC. */
export const everythingOn: Context = {
  ...oneRegion,
  ...vpc,
  stage: 'prod',
  publishUrl: 'true',
  publishConcurrency: '200',
  tracing: 'true',
  canary: 'true',
  alarmEmails: 'ops@example.com',
  domains: 'eu-central-1=queue.example.com,management=admin.example.com',
  certificates: 'arn:aws:acm:eu-central-1:111122223333:certificate/0a1b2c3d',
  hostedZone: 'Z0123456789ABC',
  vpcEndpoints: 'true',
  routeTables: 'eu-central-1=rtb-0a1b2c3d',
  lambdaDestinations: 'arn:aws:lambda:eu-central-1:111122223333:function:orders-*',
  longDelivery: 'instances',
  longEnvironments: '1',
};

/** The same in a new VPC with fixed addresses, and with third values of a few settings. */
export const withAddresses: Context = {
  ...everythingOn,
  vpcs: '',
  subnets: '',
  vpcEndpoints: 'false',
  routeTables: '',
  fixedAddresses: 'eu-central-1=eipalloc-0a1b2c3d,eu-central-1=eipalloc-0b1b2c3d',
  zones: 'eu-central-1=euc1-az3,eu-central-1=euc1-az2',
  logRetentionDays: '1',
  domains: 'eu-central-1=other.example.com/queue,management=admin.example.com',
};

/** Every setting that may change later, with a value other than the default. */
export const otherValues: Context = {
  ...everythingOn,
  restoredTables: 'eu-central-1=messages:Svc-messages-restored',
  logLevel: 'DEBUG',
  // For ever.
  logRetentionDays: '9999',
  headerPrefixes: 'Svc',
  allowedDestinations: '10.0.0.0/8',
  destinations: 'arn:aws:sqs:eu-central-1:111122223333:orders',
  lambdaDestinations: 'arn:aws:lambda:eu-central-1:111122223333:function:orders',
  extraCaCertificates: join(certificates, 'authority.pem'),
  outboundProxy: 'http://proxy.example.com:3128',
  outboundProxyExcept: '10.0.0.0/8,internal.example',
  ownHosts: 'proxy.example.com',
  throttleRate: '1',
  throttleBurst: '1',
  deliveryConcurrency: '2',
  deliveryMemory: '1024',
  batchingWindow: '2',
  countingParts: '7',
  writeCapacity: '10-4000',
  readCapacity: '10-2000',
  firewall: 'true',
  firewallRate: '10',
  securityGroups: 'eu-central-1=sg-0a1b2c3d',
  deliveryPorts: '443',
  pricePerMessage: '0',
  clientPatience: '2',
  accountConcurrency: '10',
  gatewayLogRole: 'false',
  forEmulator: 'true',
  canary: 'false',
};

export const otherCertificates: Context = {
  ...otherValues,
  extraCaCertificates: join(certificates, 'server.pem'),
};

/** Other numbers and lists, with the default resources. */
export const tuned: Context = {
  ...oneRegion,
  ...destinations,
  logLevel: 'DEBUG',
  logRetentionDays: '7',
  ownHosts: 'queue.example.com',
  throttleRate: '5000',
  throttleBurst: '2000',
  deliveryConcurrency: '20',
  publishConcurrency: '350',
  deliveryMemory: '256',
  batchingWindow: '300',
  countingParts: '2',
  writeCapacity: '100-4000',
  readCapacity: '50-2000',
  pricePerMessage: '0.25',
  accountConcurrency: '5000',
  alarmEmails: 'ops@example.com,night@example.com',
};

/** Under another name in other regions: the first is in the operator's VPC, and at a domain of the operator. */
export const elsewhere: Context = {
  ...vpc,
  name: 'Queue',
  regions: 'eu-central-1,us-west-2',
  allowedDestinations: '10.1.0.0/16',
  deliveryPorts: '8443',
  publishUrl: 'true',
  canary: 'true',
  monitoring: 'essential',
  domains: 'eu-central-1=example.com/queue',
};

/** The stage `dev`, with fixed addresses in zones of AWS's choice, and without what settings leave out. */
export const reduced: Context = {
  stage: 'dev',
  regions: 'us-east-1',
  fixedAddresses: 'us-east-1=eipalloc-0a1b2c3d,us-east-1=eipalloc-0b1b2c3d',
  monitoring: 'true',
  scheduleGroup: 'default',
  gatewayLogRole: 'false',
  domains: 'us-east-1=queue.example.com',
  certificates: 'arn:aws:acm:us-east-1:111122223333:certificate/0a1b2c3d',
};

/** Data that can be restored, but is deleted with its stack. */
export const unprotected: Context = {
  ...oneRegion,
  retain: 'false',
  pointInTimeRecovery: 'true',
  gatewayLogRole: 'false',
};

/** The operator's VPC has all endpoints of AWS, and delivery functions on Lambda. */
export const closed: Context = {
  ...oneRegion,
  ...vpc,
  ...destinations,
  vpcEndpoints: 'true',
  routeTables: 'eu-central-1=rtb-0a1b2c3d',
};

/** Managed instances, in two regions. */
export const instances: Context = { longDelivery: 'instances' };

/** Managed instances in chosen zones, many of them, and an API below a path of its domain. */
export const instancesInZones: Context = {
  ...oneRegion,
  ...instances,
  zones: 'eu-central-1=euc1-az2,eu-central-1=euc1-az3',
  longEnvironments: '30',
  deliveryConcurrency: '2',
  domains: 'eu-central-1=example.com/queue',
  certificates: 'arn:aws:acm:eu-central-1:111122223333:certificate/0a1b2c3d',
};

/** Managed instances in the operator's VPC, which has all endpoints except one, and an API below a domain that exists already. */
export const instancesInVpc: Context = {
  ...oneRegion,
  ...instances,
  ...vpc,
  domains: 'eu-central-1=example.com/queue',
  deliveryPorts: '443',
  vpcEndpoints: 's3',
  routeTables: 'eu-central-1=rtb-0a1b2c3d',
};

/** An emulator has no managed instances. */
export const emulated: Context = {
  ...oneRegion,
  ...instances,
  forEmulator: 'true',
  scheduleGroup: 'default',
};
