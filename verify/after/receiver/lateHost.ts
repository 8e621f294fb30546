/** A machine that can take longer to answer than the 15 minutes of function URLs. It is in a separate VPC and stack. */
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CfnOutput } from 'aws-cdk-lib';
import {
  AmazonLinuxCpuType,
  Instance,
  InstanceType,
  MachineImage,
  Peer,
  Port,
  SubnetType,
  UserData,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { makeStack, removeStack, templateOf } from './stacks.ts';

/** A Python server, which needs no installation. It answers `/<seconds>` after this many seconds. */
export const lateServer = (port: number): string =>
  `
import http.server, time
class Late(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_POST(self):
        self.rfile.read(int(self.headers.get('content-length') or 0))
        time.sleep(float(self.path[1:]))
        self.send_response(200)
        self.send_header('content-length', '0')
        self.end_headers()
server = http.server.ThreadingHTTPServer(('', ${port}), Late)
print(server.server_port, flush=True)
server.serve_forever()
`.trimStart();

const httpPort = 80;

const lateHostStack = (deployment: string): string => `${deployment}-VerifyHost`;

export const lateHostTemplate = (deployment: string): string =>
  templateOf(lateHostStack(deployment), (stack) => {
    const vpc = new Vpc(stack, 'Vpc', {
      maxAzs: 1,
      natGateways: 0,
      subnetConfiguration: [{ name: 'Host', subnetType: SubnetType.PUBLIC, cidrMask: 28 }],
    });
    const userData = UserData.forLinux();
    userData.addCommands(
      `cat > /root/late.py <<'END'`,
      lateServer(httpPort),
      'END',
      'nohup python3 /root/late.py > /root/late.log 2>&1 &',
    );
    const host = new Instance(stack, 'Host', {
      vpc,
      instanceType: new InstanceType('t4g.nano'),
      machineImage: MachineImage.latestAmazonLinux2023({ cpuType: AmazonLinuxCpuType.ARM_64 }),
      userData,
      requireImdsv2: true,
    });
    host.connections.allowFrom(Peer.anyIpv4(), Port.tcp(httpPort), 'Messages of svc-queue verify');
    // The machine installs nothing, and makes no calls.
    new CfnOutput(stack, 'Url', { value: `http://${host.instancePublicIp}` });
  });

/** How long CloudFormation may take for the machine, in seconds. */
const maxWaitTime = 600;

/** @returns whether it existed */
export const removeLateHost = (client: CloudFormationClient, deployment: string): Promise<boolean> =>
  removeStack(client, lateHostStack(deployment), maxWaitTime);

/** Creates the machine. @returns its URL, without a slash at the end */
export async function makeLateHost(
  client: CloudFormationClient,
  deployment: string,
  abortSignal: AbortSignal,
): Promise<string> {
  const template = lateHostTemplate(deployment);
  const stack = { name: lateHostStack(deployment), template, maxWaitTime, minDelay: 5, maxDelay: 10 };
  const { Url = '' } = await makeStack(client, stack, abortSignal);
  return Url;
}
